"""Free loopback ports."""

from __future__ import annotations

import secrets
import socket

LOOPBACK = "127.0.0.1"
LOWEST, HIGHEST = 15_000, 32_000
"""Below what systems hand to outgoing connections: no client takes a picked port before its server does."""


def free_ports(count: int) -> tuple[int, ...]:
    """Return ports nobody listens on now, all different; another program may still be quicker to take one."""
    picked: list[int] = []
    while len(picked) < count:
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        if port not in picked and is_free(port):
            picked.append(port)
    return tuple(picked)


def is_free(port: int) -> bool:
    """Return whether a server could listen on this loopback port now."""
    with socket.socket() as attempt:
        attempt.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # a port in TIME_WAIT is free for a server
        try:
            attempt.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
