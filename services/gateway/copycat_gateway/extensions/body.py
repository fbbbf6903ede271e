"""The body of a request, taken in once."""

from __future__ import annotations

from litestar.types import Receive

from copycat_gateway.edge.intake import MAX_BODY_BYTES, MAX_DISCARDED_BYTES
from copycat_gateway.errors import TooLargeError


class Body:
    """Reads a body, and no further: after its end only the news that the caller has left would come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False

    async def read(self) -> bytes:
        """Return what is left of it.

        Raises:
            TooLargeError: It is longer than a body may be.
        """
        kept, size = bytearray(), 0
        while not self._ended and size <= MAX_DISCARDED_BYTES:
            message = await self._receive()
            if message["type"] != "http.request":  # whoever asked has left
                self._ended = True
                break
            size += len(message["body"])
            if size <= MAX_BODY_BYTES:
                kept += message["body"]
            self._ended = not message["more_body"]
        if size > MAX_BODY_BYTES:
            raise TooLargeError(f"The request body is too large: at most {MAX_BODY_BYTES} bytes are accepted")
        return bytes(kept)
