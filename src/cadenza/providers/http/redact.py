"""Keep secrets out of what people read: logs, errors, traces, stored replies.

A `Secret` carries a token and shows it only to `reveal()`; printing gives a mark, pickling and
JSON fail. `redact` removes known secrets from any text, and, as a second net, what looks like one in
an address (Meta puts tokens in the query, Telegram in the path). Limit: a secret that was revealed and
then changed (cut, hashed) is not recognised, and memory is not wiped.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from cadenza.core.secret import MARK, Secret

__all__ = ["MARK", "Redactor", "Secret", "redact"]

# A shorter secret would blot out innocent words; nobody issues tokens that short.
SHORTEST = 4


_NAMES = (
    "access_?token|refresh_?token|auth_?token|id_?token|fb_exchange_token|input_token|token|"
    "client_?secret|app_?secret|appsecret_proof|secret|password|passwd|pwd|api_?key|apikey|key|"
    "signature|sig|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|"
    "code|code_verifier|assertion|authorization|credential|session"
)
_QUERY = re.compile(rf"(?i)([?&;#](?:{_NAMES})=)[^&;#\s\"']+")
_PATHS = (
    re.compile(r"(?i)(/(?:file/)?bot)\d+(?::|%3A)[\w-]+"),  # Telegram
    re.compile(r"(?i)(/services/)[\w/-]+"),  # Slack
    re.compile(r"(?i)(/webhooks/\d+/)[\w-]+"),  # Discord
)
_USERINFO = re.compile(r"(//)[^/\s?#]+@")  # up to the last @: a password may hold one
# A database's password may hold anything; nothing behind its host does.
_DATABASE = re.compile(
    r"(?i)\b((?:postgres(?:ql)?|rediss?|valkeys?|mongodb)(?:\+\w+)?://)[^\s\"']+@"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic|dpop|bot)\s+[\w.~+/=:-]{8,}")


class Redactor:
    """Blots the same secrets out of many texts: their spellings are worked out once."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._known = _forms(secrets)

    def redact_text(self, text: str) -> str:
        """Return `text` without the secrets, and without what looks like one in an address."""
        for form in self._known:
            text = text.replace(form, MARK)
        if "//" in text:
            text = _DATABASE.sub(rf"\1{MARK}@", text)
            text = _USERINFO.sub(rf"\1{MARK}@", text)
        if "=" in text:
            text = _QUERY.sub(rf"\1{MARK}", text)
        if "/" in text:
            for path in _PATHS:
                text = path.sub(rf"\1{MARK}", text)
        return _BEARER.sub(rf"\1 {MARK}", text)


def redact(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Return `text` without the given secrets, in plain or percent-encoded form, and without look-alikes."""
    return Redactor(secrets).redact_text(text)


def _forms(secrets: Iterable[Secret]) -> list[str]:
    """Return every spelling to look for, longest first, so that no tail of one is left standing."""
    forms: set[str] = set()
    for whole in {secret.reveal() for secret in secrets}:
        # "Bearer abc" may turn up without its first word.
        for value in {whole, whole.rpartition(" ")[2]}:
            if len(value) >= SHORTEST:
                forms |= {value, quote(value), quote(value, safe=""), quote_plus(value)}
    return sorted(forms, key=len, reverse=True)
