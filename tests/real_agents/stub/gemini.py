"""Gemini's generateContent: what Gemini CLI speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from real_agents.stub.script import Answer, Asked, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_agents.stub.anthropic import Frame

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def read(body: dict[str, Any]) -> Asked:
    """The question of a request."""
    said: list[str] = []
    after_tool = False
    for content in body.get("contents") or []:
        parts = content.get("parts") or []
        if content.get("role") == "model":
            said = said if any("functionCall" in part for part in parts) else []
            after_tool = False
        elif any("functionResponse" in part for part in parts):
            after_tool = True
        else:
            said += texts(parts)
    offered = [
        function for tool in body.get("tools") or [] for function in tool.get("functionDeclarations") or []
    ]
    settings = body.get("generationConfig") or {}
    return Asked(
        said=said,
        after_tool=after_tool,
        tools={
            tool["name"]: tool.get("parametersJsonSchema") or tool.get("parameters") or {} for tool in offered
        },
        wants_json="responseSchema" in settings or "responseJsonSchema" in settings,
    )


def _parts(answer: Answer) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if answer.reasoning:
        parts.append({"text": f"**Thinking** {answer.reasoning}", "thought": True})
    if answer.text:
        parts.append({"text": answer.text})
    if answer.tool:
        parts.append({"functionCall": {"name": answer.tool, "args": answer.arguments}})
    return parts


def _document(parts: list[dict[str, Any]], key: str, **more: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **more}
    return {
        "candidates": [candidate],
        "usageMetadata": USAGE,
        "modelVersion": "stub-model",
        "responseId": key,
    }


def whole(body: dict[str, Any], answer: Answer, key: str) -> dict[str, Any]:
    """The answer as one document."""
    return _document(_parts(answer), key, finishReason="STOP")


def streamed(body: dict[str, Any], answer: Answer, key: str) -> Iterator[Frame]:
    """The answer part by part."""
    *first, last = _parts(answer)
    for part in first:
        yield None, _document([part], key)
    yield None, _document([last], key, finishReason="STOP")
