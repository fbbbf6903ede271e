"""Host names of the instances of one service: looked up for gRPC, and again while they are called.

gRPC looks up one name for a channel, not several, and that one again only when a connection breaks: where it
leads to several instances, one that came back would not be found while the others answer.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

#: How old what was looked up may be when a call begins: an instance that starts again may have moved.
MAX_AGE_SECONDS: Final = 2.0
#: How long the first lookup may hold up its caller.
FIRST_LOOKUP_SECONDS: Final = 2.0


def looked_up(address: str) -> list[str]:
    """Return the addresses that a name leads to, each with its port; none where it leads nowhere now."""
    host, _, port = address.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [
        f"[{where[0]!s}]:{port}" if family == socket.AF_INET6 else f"{where[0]!s}:{port}"
        for family, _, _, _, where in found
    ]


class Names:
    """What gRPC is given in place of names; to be asked at each call."""

    def __init__(
        self,
        addresses: Sequence[str],
        lookup: Callable[[str], list[str]] = looked_up,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look them up, for two seconds at most.

        Args:
            addresses: `host:port` of each instance; at least one.
            lookup: Returns the addresses that a name leads to; it may take long.
            clock: Gives seconds.
        """
        self._addresses = tuple(addresses)
        self._lookup = lookup
        self._clock = clock
        self._target = f"dns:///{addresses[0]}"
        self._began = float("-inf")
        self._looking: threading.Thread | None = None
        self._look().join(FIRST_LOOKUP_SECONDS)

    def target(self) -> str:
        """Return gRPC's name of all instances that were found; of the first one until any was."""
        is_looking = self._looking is not None and self._looking.is_alive()
        if not is_looking and self._clock() - self._began > MAX_AGE_SECONDS:
            self._look()
        return self._target

    def _look(self) -> threading.Thread:
        """Look in a thread: a lookup cannot be given a deadline."""
        self._began = self._clock()
        self._looking = threading.Thread(target=self._look_once, name="name-lookup", daemon=True)
        self._looking.start()
        return self._looking

    def _look_once(self) -> None:
        found = {each for address in self._addresses for each in self._lookup(address)}
        # One list has addresses of one kind only.
        for scheme, kind in (
            ("ipv4", [each for each in found if not each.startswith("[")]),
            ("ipv6", [each for each in found if each.startswith("[")]),
        ):
            if kind:
                self._target = f"{scheme}:{_listed(kind)}"
                return


def _listed(addresses: Iterable[str]) -> str:
    return ",".join(sorted(addresses))
