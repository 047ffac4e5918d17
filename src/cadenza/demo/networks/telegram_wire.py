"""How the Bot API is spoken: four encodings of a call in, one shape of answer out."""

import json
from typing import Any

from cadenza.demo.networks.telegram_model import RAW_BYTES, TEXT, TelegramRefused, bad
from cadenza.demo.simulator.wire import Answer, Part, Received, Unreadable, say
from cadenza.providers.telegram.markup import BadMarkup, parse


def read_text(text: str, mode: str | None, most: int) -> str:
    """Return what people will read of a text; refuse one that is broken or too long."""
    what = "message" if most == TEXT else "message caption"
    if len(text.encode()) > RAW_BYTES:
        raise bad("text is too long")
    try:
        seen = parse(text, mode).strip()
    except BadMarkup as wrong:
        raise bad(str(wrong)) from None
    if len(seen) > most:
        raise bad(f"{what} is too long")
    return seen


def read_fields(call: Received) -> tuple[dict[str, Any], dict[str, Part]]:
    """Read a call in any of its four encodings; nested fields are JSON inside the flat ones."""
    fields: dict[str, Any] = dict(call.query)
    files: dict[str, Part] = {}
    if call.mime == "application/json":
        return {**fields, **call.json()}, files
    if call.mime == "application/x-www-form-urlencoded":
        fields |= dict(call.form())
    elif call.mime == "multipart/form-data":
        for part in call.parts():
            if part.filename is None:
                fields[part.name] = part.text
            else:
                files[part.name] = part
    elif call.body:
        raise Unreadable("unsupported content type")
    for name in ("media", "reply_parameters", "link_preview_options", "reply_markup"):
        if isinstance(fields.get(name), str):
            try:
                fields[name] = json.loads(fields[name])
            except ValueError:
                raise Unreadable(f"can't parse {name} JSON object") from None
    return fields, files


def result(value: Any) -> Answer:
    """Make the answer of a success."""
    return say(200, {"ok": True, "result": value})


def refusal(refused: TelegramRefused) -> Answer:
    """Make the answer of a refusal; a wait stands in the body and in a header."""
    body: dict[str, Any] = {
        "ok": False,
        "error_code": refused.status,
        "description": refused.words,
    }
    headers = []
    if refused.parameters:
        body["parameters"] = refused.parameters
    if "retry_after" in refused.parameters:
        headers = [("retry-after", str(refused.parameters["retry_after"]))]
    return say(refused.status, body, headers)
