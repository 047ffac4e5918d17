"""What a network calls an address is not yet one that people may click on."""

import pytest

from cadenza.providers.outcome import Found, Sent


@pytest.mark.parametrize(
    "bad",
    [
        "javascript:alert(1)",
        "JaVaScRiPt://%0aalert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        " https://a.example/",
        "https://a.example/\nX-Header: y",
        'https://a.example/"onmouseover="x',
        "//a.example",
        "file:///etc/passwd",
        "",
    ],
)
def test_an_address_that_leads_nowhere_on_the_web_is_not_kept(bad: str) -> None:
    assert Sent("1", bad).url is None
    assert Found("1", bad).url is None


@pytest.mark.parametrize("good", ["https://a.example/@ada/1", "http://127.0.0.1:8500/x?y=z#1"])
def test_an_address_on_the_web_is_kept(good: str) -> None:
    assert Sent("1", good).url == good
    assert Found("1", good).url == good
    assert Sent("1").url is None
