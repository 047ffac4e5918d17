"""Proof that who exchanges a code is who asked for it (PKCE): a verifier, shown beforehand as its hash.

Servers that do not know it ignore the fields, so they are sent wherever they may help.
"""

import base64
import hashlib


def challenge(verifier: str) -> str:
    """Return what is shown of the verifier beforehand."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def challenged(verifier: str) -> dict[str, str]:
    """Return the fields for the page where a person signs in; none without a verifier."""
    if not verifier:
        return {}
    return {"code_challenge": challenge(verifier), "code_challenge_method": "S256"}
