"""Anthropic Messages: what Claude Code speaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from real_agents.stub.script import Answer, Asked, pieces, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

Frame = tuple[str | None, Any]  # the name of a server-sent event, and its data

USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}


def read(body: dict[str, Any]) -> Asked:
    """The question of a request."""
    said: list[str] = []
    after_tool = False
    for message in body.get("messages") or []:
        content = message.get("content")
        results = isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)
        if message.get("role") == "assistant":
            answered = not _calls(content)
            said = [] if answered else said
            after_tool = False
        elif results:
            after_tool = True
        else:
            said += texts(content)
    form = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return Asked(
        said=said,
        after_tool=after_tool,
        tools={tool["name"]: tool.get("input_schema") or {} for tool in body.get("tools") or []},
        wants_json=form.get("type") == "json_schema",
    )


def _calls(content: Any) -> bool:
    return isinstance(content, list) and any(part.get("type") == "tool_use" for part in content)


def whole(body: dict[str, Any], answer: Answer, key: str) -> dict[str, Any]:
    """The answer as one document."""
    content: list[dict[str, Any]] = []
    if answer.reasoning:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": "c3R1Yg=="})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    if answer.tool:
        content.append(
            {"type": "tool_use", "id": f"toolu_{key}", "name": answer.tool, "input": answer.arguments}
        )
    return {
        "id": f"msg_{key}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "stub-model"),
        "content": content,
        "stop_reason": "tool_use" if answer.tool else "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }


def streamed(body: dict[str, Any], answer: Answer, key: str) -> Iterator[Frame]:
    """The answer piece by piece."""

    def frame(kind: str, **more: Any) -> Frame:
        return kind, {"type": kind, **more}

    message = whole(body, answer, key)
    yield frame("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        match block:
            case {"type": "text", "text": text}:
                head = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in pieces(text)]
            case {"type": "thinking", "thinking": thinking, "signature": signature}:
                head = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [
                    {"type": "thinking_delta", "thinking": thinking},
                    {"type": "signature_delta", "signature": signature},
                ]
            case _:
                head = {**block, "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        yield frame("content_block_start", index=index, content_block=head)
        for delta in deltas:
            yield frame("content_block_delta", index=index, delta=delta)
        yield frame("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield frame("message_delta", delta=ending, usage={"output_tokens": 20})
    yield frame("message_stop")
