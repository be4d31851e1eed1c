"""OpenAI Chat Completions: what Grok, Qwen Code and OpenCode speak."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from real_agents.stub.script import Answer, Asked, pieces, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_agents.stub.anthropic import Frame

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def read(body: dict[str, Any]) -> Asked:
    """The question of a request."""
    said: list[str] = []
    after_tool = False
    for message in body.get("messages") or []:
        match message.get("role"):
            case "assistant":
                said = said if message.get("tool_calls") else []
                after_tool = False
            case "tool":
                after_tool = True
            case "user":
                said += texts(message.get("content"))
    offered = [tool.get("function") or {} for tool in body.get("tools") or []]
    return Asked(
        said=said,
        after_tool=after_tool,
        tools={tool["name"]: tool.get("parameters") or {} for tool in offered if "name" in tool},
        wants_json=(body.get("response_format") or {}).get("type") in ("json_schema", "json_object"),
    )


def whole(body: dict[str, Any], answer: Answer, key: str) -> dict[str, Any]:
    """The answer as one document."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.tool:
        message["tool_calls"] = [_call(answer, key)]
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {**_envelope(body, key), "object": "chat.completion", "choices": [choice], "usage": USAGE}


def streamed(body: dict[str, Any], answer: Answer, key: str) -> Iterator[Frame]:
    """The answer piece by piece."""
    envelope = {**_envelope(body, key), "object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Frame:
        return None, {**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    if answer.reasoning:
        yield chunk({"reasoning_content": answer.reasoning})
    for piece in pieces(answer.text):
        yield chunk({"content": piece})
    if answer.tool:
        yield chunk({"tool_calls": [{"index": 0, **_call(answer, key)}]})
    yield chunk({}, _finish(answer))
    yield None, {**envelope, "choices": [], "usage": USAGE}
    yield None, "[DONE]"


def _envelope(body: dict[str, Any], key: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{key}", "created": int(time.time()), "model": body.get("model", "stub-model")}


def _call(answer: Answer, key: str) -> dict[str, Any]:
    function = {"name": answer.tool, "arguments": json.dumps(answer.arguments)}
    return {"id": f"call_{key}", "type": "function", "function": function}


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.tool else "stop"
