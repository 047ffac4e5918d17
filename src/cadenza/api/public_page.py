"""Pages for people who don't sign in: recipients, and those who sign up. Plain HTML, readable on a phone.

Whatever somebody typed goes through `text` before it gets into a page. The pages need no script and no cookie.
"""

from collections.abc import Mapping
from html import escape

from starlette.responses import HTMLResponse

HEADERS = {
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
    "referrer-policy": "same-origin",  # with no-referrer a button's post would come from the origin "null"
}
_HTML = {"text/html": {}}
SHOWN = {
    200: {"description": "A page", "content": _HTML},
    404: {"description": "A page: the link is not one of ours", "content": _HTML},
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:8vh auto;padding:0 1rem}}
h1{{font-size:1.5rem;line-height:1.25}}
ul{{list-style:none;padding:0}}
li{{border-top:1px solid;padding:.75rem 0}}
form{{margin:.5rem 0}}
label{{display:block;margin:1rem 0 .25rem}}
input{{font:inherit;box-sizing:border-box;width:100%;min-height:2.75rem;padding:.4rem .6rem}}
button{{font:inherit;min-height:2.75rem;padding:.5rem 1.1rem}}
:focus-visible{{outline:3px solid;outline-offset:2px}}
.extra{{position:absolute;left:-100vw;width:1px;height:1px;overflow:hidden}}
</style></head>
<body><main><h1>{title}</h1>{body}</main></body></html>
"""


def text(words: str) -> str:
    """Make words safe to stand in a page, also within an attribute."""
    return escape(words, quote=True)


def page(
    title: str, body: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return a page; `title` is plain words, `body` is HTML of ours."""
    filled = _PAGE.format(title=text(title), body=body)
    return HTMLResponse(filled, status, {**HEADERS, **(headers or {})})


def button(words: str, **values: str) -> str:
    """Return a form of one button that posts these values to the page's own address."""
    hidden = "".join(
        f'<input type="hidden" name="{text(name)}" value="{text(value)}">'
        for name, value in values.items()
    )
    return f'<form method="post">{hidden}<button>{text(words)}</button></form>'


def bad_link() -> HTMLResponse:
    """Answer an address that was never given out, or not as a whole."""
    words = "<p>This link is not complete. Open it from the message again, whole.</p>"
    return page("Link not found", words, status=404)
