"""What holds for the module of every agent, whatever its logs look like."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from conversation_esaa.agents.jsonl import Lines, read_records
from conversation_esaa.agents.registry import ReaderState, SessionFile, glancing
from conversation_esaa.errors import ConversationError
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from conversation_esaa.agents.registry import AgentModule

try:
    import pytest
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
except ImportError as error:
    raise ConversationError(
        f"the contract of agents needs {error.name}", hint="pip install 'conversation-esaa[testing]'"
    ) from None

ROOTS: tuple[list[str], ...] = ([], ["/home/dev/tea"], ["C:\\Users\\dev\\tea"], ["/"])
ROUNDS = 300  # how often the sample is read into one state
MOST_STATE_BYTES = 8_000

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)

# A suite is there once for each agent, and machines are shared: neither is a fault of what is tested.
_some = settings(deadline=None, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])


class AgentContract:
    """Subclass it under a name that begins with `Test`, and say which module it is about."""

    module: ClassVar[Any]
    """The module (see `agents.registry.AgentModule`), or whatever has its attributes."""
    override: ClassVar[tuple[str, ...]] = ()
    """The variable that moves the agent's home, the usual home below the user's, and where the home then lies below
    the variable's value; () where no variable moves it."""

    def sample(self) -> list[Any]:
        """Records of one session, as decoded from its log: four turns or more, and what is not said in between."""
        raise NotImplementedError

    def again(self, records: list[Any], number: int) -> None:
        """Change `records` in place so that reading them once more, the `number`-th time, is news.

        For agents that know a record again by its id. As it stands, nothing is changed.
        """

    # --- what the suite itself stands on ---------------------------------------------------------------

    @property
    def agent(self) -> AgentModule:
        """The module."""
        return type(self).module  # type: ignore[no-any-return]

    def opened(self) -> ReaderState:
        """The state before the first record of a session without side files."""
        file = SessionFile(path=Path("nowhere", "session.jsonl"), session_id="session", cwd="/home/dev/tea")
        return self.agent.open_session(file)

    def read(self, records: list[Any], state: ReaderState) -> list[Turn | SessionMark]:
        """All that the module makes of the records."""
        return list(self.agent.read(records, state))

    def nearly_right(self, data: st.DataObject) -> list[Any]:
        """The sample, in which some records, and some values deep inside records, are something else."""
        records = copy.deepcopy(self.sample())
        for index in data.draw(st.lists(st.integers(0, len(records) - 1), max_size=4)):
            place: Any = records
            key: Any = index
            while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
                place = place[key]
                keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
                key = data.draw(st.sampled_from(keys))
            place[key] = data.draw(json_values)
        return records

    # --- the suite -------------------------------------------------------------------------------------

    def test_it_offers_what_the_registry_asks_for(self) -> None:
        """What `AgentModule` names."""
        module = self.agent

        assert module.NAME
        assert module.TITLE
        assert issubclass(module.State, ReaderState)
        assert all(isinstance(kind, str) for kind in module.KNOWN_INVISIBLE)

    def test_the_sample_is_read(self) -> None:
        """Else the tests below would hold for a reader that reads nothing."""
        found = self.read(self.sample(), self.opened())

        assert len(_turns(found)) >= 4
        assert isinstance(found[0], SessionMark)
        assert [item.kind for item in found if isinstance(item, SessionMark)].count(MarkKind.STARTED) == 1

    @_some
    @given(data=st.data())
    def test_no_native_record_can_stop_a_sync(self, data: st.DataObject) -> None:
        """Vendors change their logs without notice; the worst outcome is a turn that was not read."""
        foreign = data.draw(st.none() | st.lists(json_values, max_size=8))
        records = self.nearly_right(data) if foreign is None else foreign

        found = self.read(records, self.opened())

        for item in found:
            texts = (item.cwd, item.model, item.said_at, item.source_ref)
            assert item.source == self.agent.NAME
            assert all(isinstance(value, str) for value in texts)
        for turn in _turns(found):
            assert isinstance(turn.text, str)
            assert turn.text.strip()

    @_some
    @given(data=st.data())
    def test_reading_in_pieces_gives_the_same_turns(self, data: st.DataObject) -> None:
        """A sync may happen between any two records, and the state is stored in between."""
        records = self.nearly_right(data)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(records)), max_size=5)))
        expected = self.read(records, self.opened())
        state: ReaderState = self.opened()
        found: list[Turn | SessionMark] = []

        for start, end in zip([0, *cuts], [*cuts, len(records)], strict=True):
            found += self.read(records[start:end], state)
            state = msgspec.json.decode(msgspec.json.encode(state), type=self.agent.State)

        assert _without_copy_keys(found) == _without_copy_keys(expected)

    @_some
    @given(data=st.data())
    def test_ordinals_count_from_0_without_gaps(self, data: st.DataObject) -> None:
        """They are part of a turn's identity where the agent gives no id."""
        state = self.opened()

        found = _turns(self.read(self.nearly_right(data), state))

        assert [turn.source_index for turn in found] == list(range(len(found)))
        assert state.source_index == len(found)

    def test_reading_again_gives_the_same_identities(self) -> None:
        """Capturing twice adds nothing."""
        first, second = (self.read(self.sample(), self.opened()) for _ in range(2))

        assert first == second

    def test_the_state_stays_small(self) -> None:
        """It is stored for every session, whatever the session's size; and no word of one is in it."""
        state, records = self.opened(), self.sample()

        for number in range(ROUNDS):
            self.read(records, state)
            self.again(records, number)

        assert state.visible > 2 * ROUNDS
        assert len(msgspec.json.encode(state)) < MOST_STATE_BYTES

    @pytest.mark.parametrize("roots", ROOTS)
    def test_a_missing_home_has_no_session(self, roots: list[str], tmp_path: Path) -> None:
        """Nor has a file in its place, nor an empty one."""
        (tmp_path / "a file").write_text("")

        for home in (tmp_path / "missing", tmp_path / "a file", tmp_path):
            assert list(self.agent.session_files(home, roots)) == []

    def test_the_environment_can_move_the_home_and_an_empty_value_does_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As on Linux."""
        monkeypatch.setattr("sys.platform", "linux")
        if not self.override:
            return
        variable, usual, *below = self.override
        home = self.agent.home

        assert home({}, tmp_path) == tmp_path / usual
        assert home({variable: ""}, tmp_path) == tmp_path / usual
        assert home({variable: "/elsewhere"}, tmp_path) == Path("/elsewhere", *below)

    def test_a_session_can_be_opened_without_its_side_files(self, tmp_path: Path) -> None:
        """They may vanish between listing and opening."""
        gone = SessionFile(path=tmp_path / "gone" / "x.jsonl", session_id="s")

        state = self.agent.open_session(gone)

        assert (state.started, state.source_index, state.sidechain) == (False, 0, False)

    @_some
    @given(data=st.data())
    def test_a_glance_at_a_line_changes_nothing_that_is_read(self, data: st.DataObject) -> None:
        """Long lines are passed over without being decoded; what they would have told must not be lost."""
        module = self.agent
        records = self.nearly_right(data)
        file = io.BytesIO(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
        glanced, whole = self.opened(), self.opened()

        quick = list(module.read(read_records(file, Lines(), glancing(module, glanced)), glanced))
        slow = list(module.read(read_records(file, Lines()), whole))

        assert quick == slow
        assert glanced == whole


def _turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def _without_copy_keys(items: list[Turn | SessionMark]) -> list[Turn | SessionMark]:
    """A turn at the end of a piece may have fewer of them: what comes behind it is not known yet."""
    return [msgspec.structs.replace(item, copy_keys=()) if isinstance(item, Turn) else item for item in items]
