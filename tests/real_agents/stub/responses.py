"""OpenAI Responses: what Codex speaks."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from real_agents.stub.script import Answer, Asked, pieces, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_agents.stub.anthropic import Frame

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 120,
}


def read(body: dict[str, Any]) -> Asked:
    """The question of a request."""
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    said: list[str] = []
    after_tool = False
    for position, item in enumerate(items):
        following = items[position + 1] if position + 1 < len(items) else {}
        if str(item.get("type", "")).endswith("_output"):
            after_tool = True
        elif item.get("role") == "assistant":
            calls = str(following.get("type", "")).endswith("_call")
            said = said if calls else []
            after_tool = False
        elif item.get("role") == "user":
            said += texts(item.get("content"))
    form = (body.get("text") or {}).get("format") or {}
    return Asked(
        said=said,
        after_tool=after_tool,
        tools={
            tool["name"]: tool.get("parameters") or {} for tool in body.get("tools") or [] if "name" in tool
        },
        wants_json=form.get("type") == "json_schema",
    )


def whole(body: dict[str, Any], answer: Answer, key: str) -> dict[str, Any]:
    """The answer as one document."""
    output: list[dict[str, Any]] = []
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        output.append({"type": "reasoning", "id": f"rs_{key}", "encrypted_content": None, "summary": summary})
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": f"msg_{key}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    if answer.tool:
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{key}",
                "call_id": f"call_{key}",
                "name": answer.tool,
                "arguments": json.dumps(answer.arguments),
                "status": "completed",
            }
        )
    return {
        "id": f"resp_{key}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": body.get("model", "stub-model"),
        "output": output,
        "parallel_tool_calls": False,
        "error": None,
        "incomplete_details": None,
        "usage": USAGE,
    }


def streamed(body: dict[str, Any], answer: Answer, key: str) -> Iterator[Frame]:
    """The answer piece by piece."""
    sequence = 0

    def frame(kind: str, **more: Any) -> Frame:
        nonlocal sequence
        sequence += 1
        return kind, {"type": kind, "sequence_number": sequence, **more}

    response = whole(body, answer, key)
    yield frame("response.created", response={**response, "status": "in_progress", "output": []})
    for index, item in enumerate(response["output"]):
        at = {"item_id": item["id"], "output_index": index}
        match item:
            case {"type": "message", "content": [part]}:
                started = {**item, "status": "in_progress", "content": []}
                yield frame("response.output_item.added", output_index=index, item=started)
                at["content_index"] = 0
                yield frame("response.content_part.added", **at, part={**part, "text": ""})
                for piece in pieces(part["text"]):
                    yield frame("response.output_text.delta", **at, delta=piece)
                yield frame("response.output_text.done", **at, text=part["text"])
                yield frame("response.content_part.done", **at, part=part)
            case {"type": "reasoning", "summary": [part]}:
                yield frame("response.output_item.added", output_index=index, item=item)
                yield frame(
                    "response.reasoning_summary_text.delta", **at, summary_index=0, delta=part["text"]
                )
            case {"type": "function_call", "arguments": given}:
                yield frame("response.output_item.added", output_index=index, item=item)
                yield frame("response.function_call_arguments.delta", **at, delta=given)
                yield frame("response.function_call_arguments.done", **at, arguments=given)
        yield frame("response.output_item.done", output_index=index, item=item)
    yield frame("response.completed", response=response)
