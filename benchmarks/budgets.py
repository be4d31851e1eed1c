"""The budgets, each as a function that measures it and gives its rows.

Compared commands are measured in one alternation, so a ratio never mixes two moments of the machine.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import synthetic
from append_cost import Appended
from bench import HERE
from measure import Cost, Ratio, alternating, ratio, run
from table import Row, compared, seconds, spent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench import Bench, Spot
    from measure import Command

BARE = "bare"
READS = ("context --last 20", "handoff", "show ID", "status")
FLAT = 1.25  # "flat": no more than this between the small and the large
LOG_PER_TEXT = 1.25  # "about the text kept"

NOT_MEASURED = (
    "search: there is no search yet",
    "replay: not built yet",
)


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """What commands cost by the size of the log: what the plot shows."""

    events: list[int]
    bare_s: float
    commands: dict[str, list[Cost]]


def start_up(bench: Bench) -> list[Row]:
    """What every call pays before it does anything."""
    bench.told("start-up")
    commands = {BARE: bench.bare(), "version": bench.product("--version")}
    cost = alternating(commands, 2 * bench.sizes.runs_start)
    found = ratio(cost["version"], cost[BARE])
    absolute = f"{spent(cost['version'])}; bare {spent(cost[BARE])}"
    return [compared("version", "`--version`", 2.5, "× bare", found, absolute)]


def hook_calls(bench: Bench) -> list[Row]:
    """What an agent waits for at each of its events, by the size of the log behind it."""
    small, big = bench.sizes.log_events[0], bench.sizes.log_events[-1]
    floor = bench.python("-I", "-S", "-c", "pass")
    spots = {events: bench.logged(events) for events in (small, big)}
    bench.told("hook calls")
    commands: dict[object, Command] = {BARE: floor}
    for events, spot in spots.items():
        commands[events] = bench.hook("Stop", spot=spot)
    commands["inject"] = bench.hook("SessionStart", "--inject", spot=spots[big])
    with contextlib.ExitStack() as working:
        for spot in spots.values():
            working.enter_context(_worker_of(spot))
        cost = alternating(commands, 3 * bench.sizes.runs_start)
    starting = msgspec.structs.replace(
        bench.hook("Stop", spot=spots[big]), prepare=partial(_idle, spots[big])
    )
    rested = msgspec.structs.replace(floor, prepare=partial(_idle, spots[big]))
    cost |= alternating({"rested": rested, "starting": starting}, 3 * bench.sizes.runs_start)
    _idle(spots[big])
    for spot in spots.values():
        shutil.rmtree(spot.store / "run" / "spool")
    return [
        compared(
            f"hook_call_{key}",
            f"a hook call{what}",
            1.3,
            "× bare -S",
            ratio(cost[key], cost[base]),
            f"{1000 * cost[key].cpu:.1f} ms; bare -S {1000 * cost[base].cpu:.1f} ms",
        )
        for key, base, what in (
            (small, BARE, f", {small:,} events in the log"),
            (big, BARE, f", {big:,} events in the log"),
            ("inject", BARE, f" that injects, {big:,} events in the log"),
            ("starting", "rested", f" that starts a worker, {big:,} events in the log"),
        )
    ]


@contextlib.contextmanager
def _worker_of(spot: Spot) -> Iterator[None]:
    """As if a worker was there already; waits for one that is."""
    lock = os.open(spot.store / "run" / "worker.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield
    os.close(lock)


def _idle(spot: Spot) -> None:
    """Wait until no worker is there."""
    with _worker_of(spot):
        pass
    time.sleep(0.05)  # its end takes the machine a moment, too


def many_files(bench: Bench) -> list[Row]:
    """A sync that finds nothing new, or one new turn, by the number of session files on the machine."""
    sizes = bench.sizes
    commands: dict[object, Command] = {BARE: bench.bare()}
    limits = {sizes.files: 4.0, sizes.many_files: 6.0}
    spots: list[Spot] = []
    for files in limits:
        bench.told(f"{files:,} session files")
        spot = bench.spot(f"files-{files}")
        here = min(files, sizes.files_here)
        bench.with_sessions(spot, sessions=here, turns=12, elsewhere=files - here)
        bench.captured(spot)
        spots.append(spot)
        commands[files] = bench.product("sync", spot=spot)
    bench.settled(*spots)
    cost = alternating(commands, sizes.runs_start)
    biggest = spots[-1]
    talking = {
        BARE: bench.bare(),
        "turn": bench.product("sync", spot=biggest, prepare=partial(synthetic.append, biggest.home)),
    }
    turn = alternating(talking, sizes.runs)
    named = f"one new turn, {sizes.many_files:,} session files"
    return [
        compared(
            f"nothing_new_{files}_files",
            f"sync, nothing new, {files:,} session files",
            limit,
            "× bare",
            ratio(cost[files], cost[BARE]),
            f"{spent(cost[files])}, {cost[files].peak_mb:.0f} MB",
        )
        for files, limit in limits.items()
    ] + [
        compared(
            "one_new_turn_many_files",
            named,
            12,
            "× bare",
            ratio(turn["turn"], turn[BARE]),
            f"{spent(turn['turn'])}, {turn['turn'].peak_mb:.0f} MB",
        ),
        _peak("one_new_turn_many_files", named, 60, turn["turn"]),
    ]


def log_sizes(bench: Bench) -> tuple[list[Row], Curve]:
    """What reading and syncing cost as the log grows."""
    sizes = bench.sizes
    commands: dict[tuple[str, int], Command] = {(BARE, 0): bench.bare()}
    idle: dict[tuple[str, int], Command] = {}
    for events in sizes.log_events:
        spot = bench.logged(events)
        event = _event_in_the_middle(spot)
        commands["one new turn", events] = bench.product(
            "sync", spot=spot, prepare=partial(synthetic.append, spot.home)
        )
        idle["nothing new", events] = bench.product("sync", spot=spot)
        for command in READS:
            words = command.replace("ID", event).split()
            commands[command, events] = bench.product(*words, spot=spot)
    bench.told("commands by size of the log")
    bench.settled(*map(bench.logged, sizes.log_events))
    cost = {**alternating(idle, sizes.runs_start), **alternating(commands, sizes.runs)}
    small, big = sizes.log_events[0], sizes.log_events[-1]
    named = f"{big:,} events in the log against {small:,}"
    rows = [
        _grown(cost, "nothing new", f"sync, nothing new, {named}", 1.2, small, big),
        compared(
            "one_new_turn_big_log",
            f"one new turn, {big:,} events in the log",
            6,
            "× bare",
            ratio(cost["one new turn", big], cost[BARE, 0]),
            f"{spent(cost['one new turn', big])}, {cost['one new turn', big].peak_mb:.0f} MB",
        ),
        _grown(cost, "one new turn", f"one new turn, {named}", FLAT, small, big),
        _peak("one_new_turn_big_log", f"one new turn, {big:,} events", 50, cost["one new turn", big]),
        *(_grown(cost, command, f"`{command}`, {named}", FLAT, small, big) for command in READS),
        *_handoff_tokens(bench, small, big),
    ]
    curve = Curve(
        events=list(sizes.log_events),
        bare_s=cost[BARE, 0].cpu,
        commands={
            command: [cost[command, events] for events in sizes.log_events]
            for command in ("nothing new", "one new turn", *READS)
        },
    )
    return rows, curve


def session_sizes(bench: Bench) -> list[Row]:
    """One new turn in a short and in a long session."""
    sizes = bench.sizes
    commands: dict[object, Command] = {BARE: bench.bare()}
    for turns in (sizes.short_session, sizes.long_session):
        bench.told(f"a session of {turns:,} turns")
        spot = bench.spot(f"session-{turns}")
        manifest = bench.with_sessions(spot, sessions=1, turns=turns, lean=True)
        bench.captured(spot)
        bench.check_capture(spot, manifest)
        commands[turns] = bench.product("sync", spot=spot, prepare=partial(synthetic.append, spot.home))
    cost = alternating(commands, sizes.runs)
    small, big = sizes.short_session, sizes.long_session
    flat = ratio(cost[big], cost[small])
    both = f"{spent(cost[small])} → {spent(cost[big])}"
    rows = [
        compared(
            f"one_new_turn_{name}_session",
            f"one new turn, session of {turns:,} turns",
            6,
            "× bare",
            ratio(cost[turns], cost[BARE]),
            f"{spent(cost[turns])}, {cost[turns].peak_mb:.0f} MB",
        )
        for name, turns in (("short", small), ("long", big))
    ]
    what = f"one new turn, session of {big:,} turns against {small:,}"
    rows.append(compared("one_new_turn_session_growth", what, FLAT, "×", flat, both))
    rows.append(_peak("one_new_turn_long_session", f"one new turn, session of {big:,} turns", 50, cost[big]))
    return rows


def cold_capture(bench: Bench) -> list[Row]:
    """From nothing to a handoff, against the least that must be done."""
    rows: list[Row] = []
    peaks: list[tuple[str, Cost]] = []
    for sessions, turns in bench.sizes.cold:
        spot = bench.spot(f"cold-{sessions}x{turns}")
        manifest = bench.with_sessions(spot, sessions=sessions, turns=turns)
        megabytes = sum(file.stat().st_size for file in spot.home.rglob("*.jsonl")) / 1e6
        bench.told(f"cold capture of {megabytes:.0f} MB")
        out = str(bench.directory / "reference.jsonl")
        loop = str(HERE / "reference_loop.py")
        commands = {
            "up": bench.product("up", spot=spot, prepare=partial(bench.cleared, spot)),
            "loop": bench.python(loop, "capture", str(spot.home), str(spot.workspace), out, spot=spot),
        }
        cost = alternating(commands, bench.sizes.runs)
        bench.check_capture(spot, manifest)
        rate = megabytes / cost["up"].cpu
        peaks.append((f"{megabytes:.0f} MB", cost["up"]))
        rows.append(
            compared(
                f"cold_{sessions}x{turns}",
                f"cold capture, {megabytes:.0f} MB, {manifest.visible:,} turns",
                3,
                "× the reference loop",
                ratio(cost["up"], cost["loop"]),
                f"{spent(cost['up'])}, {rate:.0f} MB/s; loop {spent(cost['loop'])}",
            )
        )
    (small, least), *_, (big, most) = peaks
    rows.append(_peak("cold_small", f"cold capture of {small}", 60, least))
    rows.append(_peak("cold_big", f"cold capture of {big}", 60, most))
    growth = most.peak_mb / least.peak_mb
    rows.append(
        Row(
            key="cold_peak_growth",
            what=f"peak memory of a cold capture, {big} against {small}",
            limit=FLAT,
            unit="×",
            value=growth,
            absolute=f"{least.peak_mb:.0f} → {most.peak_mb:.0f} MB",
        )
    )
    rows += [_log_per_text(spot), _index_per_log(spot)]
    return rows


def durability(bench: Bench) -> list[Row]:
    """What it costs to have one event on disk."""
    bench.told("durable appends")
    spot = bench.spot("append")
    bench.captured(spot)
    tool = bench.python(
        str(HERE / "append_cost.py"), str(spot.workspace), str(bench.sizes.appends), spot=spot
    )
    found = msgspec.json.decode(run(tool).output, type=Appended)
    both = Ratio(found.append / found.sync, found.append_least / found.sync_least)
    absolute = f"{1000 * found.append:.2f} ms; fdatasync {1000 * found.sync:.2f} ms (wall)"
    what = f"one durable append of {found.line_bytes} bytes"
    return [compared("durable_append", what, 2, "× one fdatasync", both, absolute)]


def verification(bench: Bench) -> list[Row]:
    """Checking the largest log, against decoding and hashing its lines."""
    events = bench.sizes.log_events[-1]
    bench.told(f"verify --deep of {events:,} events")
    spot = bench.logged(events)
    loop = bench.python(str(HERE / "reference_loop.py"), "check", str(spot.log), spot=spot)
    commands = {"deep": bench.product("verify", "--deep", spot=spot), "loop": loop}
    cost = alternating(commands, bench.sizes.runs)
    rate = events / cost["deep"].cpu
    return [
        compared(
            "verify_deep",
            f"`verify --deep`, {events:,} events",
            2,
            "× decode + SHA-256",
            ratio(cost["deep"], cost["loop"]),
            f"{spent(cost['deep'])}, {rate / 1000:.0f} k events/s, {cost['deep'].peak_mb:.0f} MB",
        )
    ]


def _grown(
    cost: dict[tuple[str, int], Cost], command: str, what: str, limit: float, small: int, big: int
) -> Row:
    least, most = cost[command, small], cost[command, big]
    absolute = f"{spent(least)} → {spent(most)}, {most.peak_mb:.0f} MB"
    key = f"{command.partition(' ')[0] if command in READS else command.replace(' ', '_')}_log_growth"
    return compared(key, what, limit, "×", ratio(most, least), absolute)


def _peak(key: str, what: str, limit: float, cost: Cost) -> Row:
    absolute = f"{seconds(cost.wall)} wall"
    return Row(
        key=f"peak_{key}",
        what=f"peak memory, {what}",
        limit=limit,
        unit="MB",
        value=cost.peak_mb,
        absolute=absolute,
    )


def _event_in_the_middle(spot: Spot) -> str:
    """The beginning of the id of an event half-way through the log."""
    with spot.log.open("rb") as log:
        log.seek(spot.log.stat().st_size // 2)
        log.readline()
        while True:
            event_id = json.loads(log.readline()).get("event_id", "")
            if event_id:
                return str(event_id[:16])


def _handoff_tokens(bench: Bench, *log_events: int) -> list[Row]:
    rows = []
    for events in log_events:
        spot = bench.logged(events)
        tokens = json.loads(run(bench.product("handoff", "--json", spot=spot)).output)["tokens"]
        rows.append(
            Row(
                key=f"handoff_tokens_{events}",
                what=f"`handoff`, {events:,} events in the log",
                limit=2_000,
                unit="tokens",
                value=tokens,
                absolute=f"{(spot.store / 'handoff.md').stat().st_size:,} bytes",
            )
        )
    return rows


def _index_per_log(spot: Spot) -> Row:
    log, index = spot.log.stat().st_size, (spot.store / "index.db").stat().st_size
    return Row(
        key="index_per_log",
        what="bytes of the index for a byte of the log",
        limit=1.5,
        unit="×",
        value=index / log,
        absolute=f"{index / 1e6:.1f} MB beside {log / 1e6:.1f} MB",
    )


def _log_per_text(spot: Spot) -> Row:
    words = size = turns = 0
    with spot.log.open("rb") as log:
        for line in log:
            size += len(line)
            text = json.loads(line).get("text", "")
            words += len(text.encode())
            turns += bool(text)
    return Row(
        key="log_per_text",
        what="bytes of the log for a byte of what was said",
        limit=LOG_PER_TEXT,
        unit="×",
        value=size / words,
        absolute=f"{size / turns:.0f} bytes a turn, {words / turns:.0f} of them its text",
    )
