"""The session's cookie: `__Host-`, Secure, HttpOnly and Lax where people come by https.

Without https (a first look on one's own machine) browsers refuse both, so there it has a plain name.
"""

from fastapi import Request

from cadenza.people.sessions import LIFE, cookie_name


def read_cookie(request: Request, public_url: str) -> str | None:
    """Return the token that the browser holds."""
    return request.cookies.get(cookie_name(public_url)) or None


def write_cookie(token: str, public_url: str) -> str:
    """Write the header that gives a browser its token; an empty one takes it away."""
    secure = "; Secure" if public_url.startswith("https://") else ""
    life = int(LIFE.total_seconds()) if token else 0
    return (
        f"{cookie_name(public_url)}={token}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}"
    )
