"""Templates for tests: compiled at hand, and saved in a workspace of Ada's."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from cadenza.core.channels import Channel
from cadenza.templates.compile import compile_content
from cadenza.templates.model import TemplateContent
from cadenza.templates.render import Incomplete, RenderedMessage, renderer_of

Fill = Callable[..., RenderedMessage]


def render_content(
    content: TemplateContent, channel: Channel, values: dict[str, Any]
) -> RenderedMessage | Incomplete:
    compiled = msgspec.json.encode(compile_content(content).compiled).decode()
    return renderer_of(compiled, channel).render(values)


@pytest.fixture
def fill() -> Fill:
    """Render content with values; it must be complete."""

    def render(
        content: TemplateContent, channel: Channel = Channel.EMAIL, **values: Any
    ) -> RenderedMessage:
        made = render_content(content, channel, values)
        assert isinstance(made, RenderedMessage), made
        return made

    return render
