"""Why a connection to a service comes to nothing: gRPC itself reports only a deadline."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final

from copycat_tls.stores import show

from copycat_rpc.tls import PREFIX, ServicesTls

_SECONDS: Final = 3.0
_SAME: Final = "must name stores that trust each other in all processes of the cluster"
_SPEAKS_TLS: Final = f"it speaks TLS and this process does not: set {PREFIX}* in its worker properties"


async def objection(address: str, tls: ServicesTls | None) -> str:
    """Return what is wrong with TLS between this process and `host:port`; nothing where that is in order.

    It does not care for an address where nobody answers in time.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    context, name = (_looking(), host) if tls is None else (_ours(tls), tls.target(host))
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_connection(host, int(port), ssl=context, server_hostname=name)
            try:
                # A client is refused after its own side of the handshake; who accepts it speaks first.
                accepted = await reader.read(1) != b""
            finally:
                writer.transport.abort()
    except ssl.SSLCertVerificationError as error:
        return f"its certificate is refused here ({error.verify_message}): {PREFIX}* {_SAME}"
    except ssl.SSLError as error:
        return _told(error, tls)
    except (OSError, TimeoutError, ValueError):
        return ""
    if tls is None:
        return _SPEAKS_TLS
    return "" if accepted else f"it refuses the certificate of this process: {PREFIX}* {_SAME}"


def _told(error: ssl.SSLError, tls: ServicesTls | None) -> str:
    reason = (error.reason or "").lower().replace("_", " ")
    alert = "alert" in reason  # sent by a server that speaks TLS
    if tls is None:
        return _SPEAKS_TLS if alert else ""
    if alert:
        return f"it refuses the certificate of this process ({reason}): {PREFIX}* {_SAME}"
    return f"it does not speak TLS ({reason}), and this process does: set {PREFIX}* in its worker properties"


def _looking() -> ssl.SSLContext:
    """Return what finds out whether a server speaks TLS at all; nothing is sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


def _ours(tls: ServicesTls) -> ssl.SSLContext:
    material = tls.current()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])
    context.load_verify_locations(cadata=material.trusted.decode())
    show(context, material.identity, f"{PREFIX}keystore.location")
    return context
