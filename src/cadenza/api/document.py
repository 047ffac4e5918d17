"""Writes the OpenAPI document without a database: `python -m cadenza.api.document > web/openapi.json`.

The web app's typed client is generated from it, and a test compares the kept copy with the code.
"""

import json
import sys
from types import SimpleNamespace
from typing import Any, cast

from cadenza.api.app import create_app
from cadenza.bootstrap.model import Runtime
from cadenza.core.clock import SystemClock


def write_document() -> dict[str, Any]:
    """Describe every route; no request is served by this application."""
    unused = SimpleNamespace(settings=SimpleNamespace(public_url=""), clock=SystemClock())
    return create_app(cast("Runtime", unused)).openapi()


if __name__ == "__main__":
    json.dump(write_document(), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
