"""PDF: only whether it begins and ends as one; networks that take documents render it themselves.

Nothing is executed, shown or rewritten here, so scripts inside stay inside: a PDF is offered as a
download and never opened in the page.
"""

import os
from typing import BinaryIO

from cadenza.media.formats.base import Broken

_TAIL = 2048


def check_pdf(file: BinaryIO) -> None:
    """Raise when the file does not begin and end as a PDF, or cannot be read without a password."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    if b"%%EOF" not in tail:
        raise Broken("the PDF is cut short")
    if b"/Encrypt" in tail:
        raise Broken("the PDF is locked with a password; save it without one")
