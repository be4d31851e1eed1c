"""`agents`: which agents there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import many, plain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.capture.survey import AgentSurvey
    from conversation_esaa.cli.call import Call

HELP = """The agents whose logs can be read, where each keeps its sessions, and what there is for this
workspace. Works outside a workspace too."""


def arguments(parser: ArgumentParser) -> None:
    """Nothing of its own."""
    del parser


def run(args: Namespace, call: Call) -> None:
    """Look and tell."""
    del args
    from conversation_esaa.workspace import agents

    surveys = agents(call.path, machine=call.machine)
    call.out.data("agents", {"agents": surveys})
    call.out.text(told(surveys))


def told(surveys: list[AgentSurvey]) -> str:
    """The agents that are here, with what there is of each; then those that could be."""
    here = [agent for agent in surveys if agent.found or agent.failed]
    lines = [line for agent in here for line in _lines(agent)]
    absent = [agent for agent in surveys if agent not in here]
    if absent:
        lines += ["", "not found here, and read where they are:"] if here else ["none of these is here:"]
        lines += [
            f"  {agent.agent:<13} {agent.title:<20} {agent.storage:<20} {agent.verified}" for agent in absent
        ]
    lines.append(
        "\nSessions are those that may hold something said in this project. The last column: the newest"
    )
    lines.append("version whose logs were tried, and how; `--json` has the directories of all.")
    return "\n".join(lines)


def _lines(agent: AgentSurvey) -> list[str]:
    if agent.failed:
        return [f"{agent.agent:<15}could not be looked at: {plain(agent.failed)}"]
    version = f" {plain(agent.version)}" if agent.version else ""
    there = f"{many(agent.sessions, 'session')}, {many(agent.captured, 'event')} captured"
    excluded = "; excluded in config.toml" if agent.excluded else ""
    lines = [
        f"{agent.agent:<15}{plain(agent.title)}{version}: {there}{excluded}",
        f"{'':15}{agent.storage} in {plain(agent.home)}; tried: {agent.verified}",
    ]
    lines += [f"{'':15}{count} × {plain(reason)}" for reason, count in sorted(agent.unlisted.items())]
    return lines
