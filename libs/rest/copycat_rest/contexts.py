"""TLS of the REST interface: for its listeners, and for calls of its own machine."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import suppress

from copycat_connect.errors import ConfigError
from copycat_tls.keys import REST_PREFIX, Tls, read_tls
from copycat_tls.stores import pem, read_identity, read_trusted, show

from copycat_rest.advertised import local_listener
from copycat_rest.listeners import HTTPS

HANDSHAKE_ROUNDS = 3
"""More than the messages each side of a handshake sends."""


def server_context(tls: Tls) -> ssl.SSLContext:
    """Return what a listener serves with.

    Raises:
        ConfigError: A store cannot be opened, or clients shall be known and nothing says which.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version, context.maximum_version = tls.protocols[0], tls.protocols[-1]
    context.set_alpn_protocols(["http/1.1"])
    show(context, read_identity(tls), tls.keystore.key("location"))
    context.verify_mode = tls.client_auth
    if tls.client_auth is not ssl.CERT_NONE:
        context.load_verify_locations(cadata=pem(read_trusted(tls.truststore)))
    return context


def own_context(properties: Mapping[str, str]) -> ssl.SSLContext | None:
    """Return what this machine calls its own interface with; nothing where that needs no TLS.

    It trusts the listener's very certificate, whatever host that is for, and shows it as its own, as workers
    of Kafka Connect do when they call each other.

    Raises:
        ConfigError: A store cannot be opened, or the two would not accept each other.
    """
    if local_listener(properties).scheme != HTTPS:
        return None
    tls = read_tls(properties, REST_PREFIX)
    identity = read_identity(tls)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=pem(identity.chain[:1]))
    show(context, identity, tls.keystore.key("location"))
    _shake_hands(tls, server_context(tls), context)
    return context


def _shake_hands(tls: Tls, server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    """Try in memory what a refusal over the network would not explain."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = {
        "keystore": client.wrap_bio(to_client, to_server),
        "truststore": server.wrap_bio(to_server, to_client, server_side=True),
    }
    for _ in range(HANDSHAKE_ROUNDS):
        for store, side in sides.items():
            try:
                with suppress(ssl.SSLWantReadError):
                    side.do_handshake()
            except ssl.SSLCertVerificationError as error:
                raise _refused(tls, store, error.verify_message) from error


def _refused(tls: Tls, store: str, reason: str) -> ConfigError:
    if store == "keystore":
        name = tls.keystore.key("location")
        return ConfigError(
            f"{name} has a certificate that clients refuse ({reason}): renew it for TLS servers", key=name
        )
    name = tls.truststore.key("location")
    return ConfigError(
        f"{name} does not accept the listener's own certificate ({reason}), with which this machine calls it,"
        " as workers of Kafka Connect do: have it trusted, for clients too, or add a listener"
        " http://127.0.0.1:PORT for this machine",
        key=name,
    )
