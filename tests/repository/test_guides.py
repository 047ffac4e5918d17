"""What a guide shows runs: the Python of each page, block after block, in one event loop."""

import ast
import asyncio
import re
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
RUN = ["engine.md", "posts.md", "rules.md", "media.md", "import-and-export.md"]


@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_guide_runs(page: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (GUIDES / page).read_text(), flags=re.DOTALL)
    assert len(blocks) >= 5
    code = compile(
        "\n".join(blocks), page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )

    async def run() -> None:
        scope: dict[str, object] = {"__name__": "guide"}
        result = eval(code, scope)
        if asyncio.iscoroutine(result):
            await result

    asyncio.run(run())
