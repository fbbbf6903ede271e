"""Names made fit for formats whose names are letters, digits and underscores."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_plus

VALID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_INVALID_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


def scrubbed(name: str) -> str:
    """Return a valid name: percent-encoded, then with underscores for what is still not allowed."""
    if VALID.fullmatch(name):
        return name
    encoded = quote_plus(name, safe="*-._")
    if encoded[:1].isdigit():
        encoded = "x" + encoded
    return _INVALID_CHARACTER.sub("_", encoded)
