"""What `verify` says: findings with stable codes, and the report they make.

A message names lines, ids, paths and counts, never what somebody said. The meaning of every code is in
docs/reference/verify.md; a test holds that page to CODES.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from itertools import groupby

import msgspec

from conversation_esaa.events import Head
from conversation_esaa.patterns import lazy

MAX_NAMED = 1000
"""Findings of one code and severity that are named; the rest is counted, so a log that is damaged in every
line costs no more memory than one damaged in a thousand."""

_SHOWN_OF_A_CODE = 3
_SHOWN_LINES = 40
_PLAIN = lazy(r"[A-Za-z0-9_.:-]{1,80}")


class Severity(StrEnum):
    """How much it matters, the worst first."""

    ERROR = "error"  # something is not as it was written, or not as it must be
    WARNING = "warning"  # a person should look
    INFO = "info"  # good to know; nothing to do


_RANK = {severity: rank for rank, severity in enumerate(Severity)}


class Kind(msgspec.Struct, frozen=True):
    """What all findings of one code have in common."""

    severity: Severity
    mend: str  # a command or a plain step; "" when there is nothing to do


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
_PROJECT = "`conversation-esaa project` rebuilds it."
_INIT = "`conversation-esaa init` puts it right."
_RESTORE = "Put the log back from a backup if you have one. Every other line stays readable, and new events go on behind it."
_STRANGER = "Another program wrote this line: find it and stop it. The line stays."

CODES: dict[str, Kind] = {
    "log.missing": Kind(
        _E,
        "Put activity.jsonl back from a backup. Without one, `conversation-esaa init` begins a new log and "
        "`conversation-esaa sync` captures what the agents' own logs still have.",
    ),
    "log.unreadable": Kind(_E, "Put a regular file there that your user can read. Nothing was changed."),
    "log.changed": Kind(_E, "Run `conversation-esaa verify` again."),
    "log.empty": Kind(
        _E,
        "Put activity.jsonl back from a backup. Without one, `conversation-esaa init` begins anew and "
        "`conversation-esaa sync` captures what the agents' own logs still have.",
    ),
    "log.not_chained": Kind(_I, "`conversation-esaa upgrade` takes these lines over and chains them."),
    "log.torn_tail": Kind(
        _W,
        "The next command that writes, for example `conversation-esaa sync`, keeps these bytes in quarantine/ "
        "(or completes the line) and goes on.",
    ),
    "log.unreadable_line": Kind(_E, _RESTORE),
    "log.older_tool_line": Kind(
        _W,
        "Take the older tool's hooks out of the agents' settings: `conversation-esaa upgrade` names the files. "
        "The line stays and is not shown; `conversation-esaa sync` captures the turn from the agent's own log.",
    ),
    "chain.broken": Kind(_E, _RESTORE),
    "chain.words": Kind(_E, _RESTORE),
    "chain.gap": Kind(_E, _RESTORE),
    "chain.two_meanings": Kind(_E, _STRANGER),
    "chain.unlinked": Kind(_I, ""),
    "chain.purged": Kind(_I, ""),
    "chain.respelled": Kind(_I, ""),
    "event.newer_version": Kind(_W, "Upgrade conversation-esaa: this version cannot check such a line."),
    "event.unknown_name": Kind(_I, ""),
    "event.missing_field": Kind(_E, _STRANGER),
    "event.odd_value": Kind(_W, _STRANGER),
    "event.time_form": Kind(_W, _STRANGER),
    "event.time_ahead": Kind(_W, ""),
    "event.recorded_back": Kind(_I, ""),
    "event.legacy": Kind(_I, ""),
    "event.old_link": Kind(_I, ""),
    "event.repeated": Kind(_I, ""),
    "identity.duplicate": Kind(_E, _STRANGER),
    "identity.mismatch": Kind(_E, _STRANGER),
    "workspace.foreign_id": Kind(
        _E,
        "If config.toml is the wrong one, put the right one back; its workspace_id must be the log's. If the "
        "log is the wrong one, put this workspace's own log back.",
    ),
    "workspace.foreign_root": Kind(_I, ""),
    "workspace.moved": Kind(_I, "`conversation-esaa sync` or `init` notes the new path; the id stays."),
    "reference.event": Kind(_W, _STRANGER),
    "reference.hidden": Kind(_I, ""),
    "reference.decision": Kind(_W, _STRANGER),
    "reference.task": Kind(_W, _STRANGER),
    "reference.topic": Kind(_W, _STRANGER),
    "reference.reused": Kind(_W, _STRANGER),
    "reference.transition": Kind(_W, _STRANGER),
    "read_model.missing": Kind(_W, _PROJECT),
    "read_model.unreadable": Kind(_E, f"Remove what is there; {_PROJECT}"),
    "read_model.edited": Kind(_E, f"Keep what you wrote elsewhere; {_PROJECT}"),
    "read_model.unstamped": Kind(_W, f"Keep what you need of it elsewhere; {_PROJECT}"),
    "read_model.differs": Kind(
        _W,
        "Keep a copy: it may hold what the log has lost. Put the log right first, then `conversation-esaa project`.",
    ),
    "read_model.stale": Kind(_W, _PROJECT),
    "read_model.ahead": Kind(
        _E,
        "The log had more lines when this file was made. Put the longer log back from a backup, or run "
        "`conversation-esaa sync`, which captures what the agents' own logs still have; then "
        "`conversation-esaa project`.",
    ),
    "read_model.other_log": Kind(
        _W, f"If the log was replaced by mistake, put the right one back; else {_PROJECT}"
    ),
    "cache.unreadable": Kind(_I, "The next `conversation-esaa sync` makes it anew."),
    "cache.other_log": Kind(
        _W,
        "If the log was replaced or cut by mistake, put the right one back. Else run `conversation-esaa sync`: "
        "it reads all agents' logs again and captures what is missing.",
    ),
    "quarantine.piece": Kind(
        _W, "Look into the file; delete it when nothing in it is missed. We never delete it."
    ),
    "store.permissions": Kind(_E, _INIT),
    "store.gitignore": Kind(_W, "`conversation-esaa init` writes a missing one; it holds one line: `*`."),
    "store.tracked": Kind(
        _W,
        "`git rm -r --cached .conversation-esaa`, then commit. What was committed before stays in the history.",
    ),
    "config.missing": Kind(_E, "`conversation-esaa upgrade` writes one with the log's own workspace id."),
    "config.invalid": Kind(_E, "Mend the file by hand; the log is untouched."),
}

_CHAIN_IS_BROKEN = frozenset(
    {"chain.broken", "chain.words", "chain.gap", "chain.unlinked", "chain.two_meanings"}
)
_LOG_IS_DAMAGED = _CHAIN_IS_BROKEN | {"log.unreadable_line"}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a person or a program may want to know."""

    code: str  # one of CODES
    severity: Severity
    message: str  # what is wrong, never what somebody said
    mend: str  # a command or a plain step; "" when there is nothing to do
    file: str  # relative to `.conversation-esaa/`
    line_no: int | None = None  # from 1; None when it is not about one line
    offset: int | None = None  # bytes, of that line's first byte


class Findings:
    """Collects findings during one run."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()  # by code
        self.severities: Counter[Severity] = Counter()
        self._named: dict[tuple[str, Severity], list[Finding]] = {}

    def tell(
        self,
        code: str,
        message: str,
        *,
        line_no: int | None = None,
        offset: int | None = None,
        file: str = "activity.jsonl",
        severity: Severity | None = None,
        mend: str | None = None,
    ) -> None:
        """Note one. Severity and mend are those of the code unless stated; an info of its own has no mend."""
        kind = CODES[code]
        if severity is None:
            severity = kind.severity
        elif mend is None and severity is Severity.INFO:
            mend = ""
        self.counts[code] += 1
        self.severities[severity] += 1
        named = self._named.setdefault((code, severity), [])
        if len(named) < MAX_NAMED:
            named.append(
                Finding(
                    code=code,
                    severity=severity,
                    message=message,
                    mend=kind.mend if mend is None else mend,
                    file=file,
                    line_no=line_no,
                    offset=offset,
                )
            )

    @property
    def chain_is_broken(self) -> bool:
        """Whether a chained line is not what was written where it was written, or cannot be told to be."""
        return not _CHAIN_IS_BROKEN.isdisjoint(self.counts)

    @property
    def log_is_damaged(self) -> bool:
        """Whether what the log says now may not be what was written."""
        return not _LOG_IS_DAMAGED.isdisjoint(self.counts)

    def all(self) -> list[Finding]:
        """The named ones: errors first; of one code together, in log order; codes in the order of CODES."""
        order = {code: place for place, code in enumerate(CODES)}
        keys = sorted(self._named, key=lambda key: (_RANK[key[1]], order[key[0]]))
        return [found for key in keys for found in self._named[key]]


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one run found."""

    findings: list[Finding]  # errors first, see Findings.all
    counts: dict[str, int]  # code → how often, those that are not named included
    severities: dict[Severity, int]  # of all three, likewise
    events: int  # lines that are events, those of the older tool included
    v1_1_lines: int
    chain: str  # intact, broken, or none: nothing is chained yet
    head: Head  # how far the log went when it was read
    deep: bool

    @property
    def ok(self) -> bool:
        """Whether nothing asks for a person.

        Infos never do, nor does what nobody can mend any more (a warning without a mend).
        """
        return not any(found.severity is not Severity.INFO and found.mend for found in self.findings)

    def told(self) -> str:
        """For people: findings by code, errors first, at most about 40 lines; the verdict is the last line."""
        lines: list[str] = []
        shown = 0
        groups = [list(group) for _, group in groupby(self.findings, lambda f: (f.severity, f.code))]
        for group in groups:
            block = _block(group)
            if len(lines) + len(block) > _SHOWN_LINES - 2:
                break
            lines += block
            shown += len(group)
        left_out = sum(self.counts.values()) - shown
        if left_out > 0:
            lines.append(f"… and {left_out} more findings: `conversation-esaa verify --json` names them.")
        return "\n".join([*lines, self.verdict()])

    def verdict(self) -> str:
        """One line: ok or what was counted, and how far the log goes."""
        words = [
            f"{count} {severity}{'' if count == 1 or severity is Severity.INFO else 's'}"
            for severity in Severity
            if (count := self.severities[severity])
        ]
        chain = {"intact": "chain intact", "none": "nothing chained yet"}.get(self.chain, "chain broken")
        head = f", head {self.head.hash[:12]}" if self.head.hash else ""
        facts = f"{self.events} events, {chain}{head}"
        if not self.ok:
            return f"verify: {', '.join(words)} — {facts}"
        return f"verify: ok — {facts}" + (f" ({', '.join(words)})" if words else "")


def report(
    findings: Findings, *, events: int, v1_1_lines: int, chained: int, head: Head, deep: bool
) -> VerifyReport:
    """The report of a run.

    chained   lines in the chain.
    """
    return VerifyReport(
        findings=findings.all(),
        counts=dict(sorted(findings.counts.items())),
        severities={severity: findings.severities[severity] for severity in Severity},
        events=events,
        v1_1_lines=v1_1_lines,
        chain="broken" if findings.chain_is_broken else "intact" if chained else "none",
        head=head,
        deep=deep,
    )


def named(name: str, *, length: int = 80) -> str:
    """An id as a message may show it: ids of ours whole or shortened; any other string could say anything."""
    return name[:length] if _PLAIN.fullmatch(name) else "(odd id)"


def _block(group: list[Finding]) -> list[str]:
    first = group[0]
    more = f" × {len(group)}" if len(group) > 1 else ""
    more += " and more" if len(group) == MAX_NAMED else ""
    lines = [f"{first.severity} {first.code}{more}"]
    for found in group[:_SHOWN_OF_A_CODE]:
        where = f"line {found.line_no} (byte {found.offset})" if found.line_no else found.file
        lines.append(f"  {where}: {found.message}")
    if len(group) > _SHOWN_OF_A_CODE:
        lines.append(f"  … and {len(group) - _SHOWN_OF_A_CODE} more")
    mends = list(dict.fromkeys(found.mend for found in group if found.mend))
    return [*lines, *(f"  → {mend}" for mend in mends[:2])]
