"""Answers that are told as they are: a large value goes into JSON without a model in between.

A model that reads a value checks what our own code just made, and copies it; for a screen of a hundred lines
that costs more than the rest of the route. Here the fields that the model names are written off the value
itself. The model stays what the document shows and what tests read the answer with.
"""

from typing import Any

import msgspec
from fastapi import Response
from pydantic import BaseModel

_ENCODER = msgspec.json.Encoder()


def json_response(model: type[BaseModel], value: object) -> Response:
    """Answer with a value of dataclasses and structs that `model` describes, defaults included."""
    said: dict[str, Any] = {
        name: getattr(value, name, field.default) for name, field in model.model_fields.items()
    }
    return Response(_ENCODER.encode(said), media_type="application/json")
