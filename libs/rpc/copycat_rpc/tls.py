"""TLS between the services: `services.ssl.*` of the worker properties, for servers and channels alike."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import grpc
from copycat_connect.errors import ConfigError
from copycat_tls.keys import SERVICES_PREFIX, read_tls
from copycat_tls.material import LiveMaterial, Material

PREFIX: Final = f"{SERVICES_PREFIX}ssl."
SERVER_NAME: Final = f"{PREFIX}server.name"
CLIENT_AUTH: Final = f"{PREFIX}client.auth"
#: gRPC speaks TLS 1.2 and 1.3 with ciphers of its own choice, and always asks whose certificate it is.
KEYS: Final = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "client.auth", "key.password", "server.name",
        "keystore.certificate.chain", "keystore.key", "keystore.location", "keystore.password",
        "keystore.type", "truststore.certificates", "truststore.location", "truststore.password",
        "truststore.type",
    )
)  # fmt: skip


class ServicesTls:
    """Who a process is to the other services, and whom it trusts."""

    def __init__(self, material: LiveMaterial, *, asks_clients: bool, server_name: str) -> None:
        self._material = material
        self.asks_clients = asks_clients
        """Whether a server answers those only who show a certificate."""
        self.server_name = server_name
        """The name that the certificates of all services bear; empty where each bears that of its address."""

    def current(self) -> Material:
        """Return the certificates that count now."""
        return self._material.current()

    def server_credentials(self, *more_trusted: str) -> grpc.ServerCredentials:
        """Return what a server shows, and asks of clients; each connection gets what counts at its time.

        Args:
            more_trusted: PEM text of certificates that clients of this very server may have, too.
        """
        given = self.current()

        def configuration(material: Material) -> grpc.ServerCertificateConfiguration:
            trusted = material.trusted + "".join(more_trusted).encode()
            return grpc.ssl_server_certificate_configuration([(material.key, material.chain)], trusted)

        def change() -> grpc.ServerCertificateConfiguration | None:
            """Return what counts now unless gRPC has it.

            What gRPC is given, it puts in place of what handshakes of other connections use at this moment,
            and the process crashes if it does so at each of many connections at once.
            """
            nonlocal given
            material = self.current()
            if material is given:
                return None
            given = material
            return configuration(material)

        first, fetcher = configuration(given), cast("Callable[[], Any]", change)  # its stubs know no None
        return grpc.dynamic_ssl_server_credentials(first, fetcher, self.asks_clients)

    def target(self, host: str) -> str:
        """Return the name that the certificate of a server must bear."""
        return self.server_name or host.strip("[]")


def channel_credentials(material: Material) -> grpc.ChannelCredentials:
    """Return what a channel shows and trusts."""
    return grpc.ssl_channel_credentials(material.trusted, material.key, material.chain)


def services_tls(properties: Mapping[str, str]) -> ServicesTls | None:
    """Read the keys, placeholders resolved; nothing without any: then gRPC is spoken in plain text.

    Raises:
        ConfigError: A key is unknown or wrong, or a store cannot be opened.
    """
    given = [key for key in properties if key.startswith(PREFIX)]
    if not given:
        return None
    for key in given:
        if key not in KEYS:
            names = ", ".join(sorted(name.removeprefix(PREFIX) for name in KEYS))
            raise ConfigError(
                f"{key} is not supported between services: after {PREFIX} comes one of {names}", key=key
            )
    tls = read_tls(properties, SERVICES_PREFIX, client_auth="required")
    if tls.client_auth is ssl.CERT_OPTIONAL:
        raise ConfigError(
            f"{CLIENT_AUTH} is 'requested', which gRPC cannot do: write required (the default) or none",
            key=CLIENT_AUTH,
        )
    asks_clients = tls.client_auth is ssl.CERT_REQUIRED
    name = properties.get(SERVER_NAME, "").strip()
    return ServicesTls(LiveMaterial(tls), asks_clients=asks_clients, server_name=name)
