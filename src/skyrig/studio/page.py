"""viser's page with what the studio adds to it: words when the studio is lost, keys, looks of plots."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

_HERE = Path(__file__).parent
_HEAD = b"</head>"


@lru_cache(maxsize=4)
def added(body: bytes, packed: bool) -> bytes:
    """The page `body`, `packed` with gzip or not, with the studio's script and style in its head."""
    page = gzip.decompress(body) if packed else body
    script, style = ((_HERE / f"page.{kind}").read_bytes() for kind in ("js", "css"))
    more = b"<script>" + script + b"</script><style>" + style + b"</style>"
    page = page.replace(_HEAD, more + _HEAD, 1)
    return gzip.compress(page, 6) if packed else page
