"""A system with every guard on: TLS, a secret, tokens, roles, an audit; and a connector nobody may touch."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
import httpx2
import pytest
from copycat_embedded.ports import free_ports
from copycat_launcher.roles import GATEWAY, GRPC_ROLES, ROLE_BY_NAME
from copycat_rpc.role import read_properties
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp, names
from google.protobuf.message import Message

from tests.issuer import Issuer, an_issuer, bearer, part

#: The one connector there is. Ann may do everything to it, Eve look; Bob nothing, but all to others.
CONNECTOR: Final = "orders"
RULES: Final = """
[[rule]]
role = "admin"
users = ["ann"]
connectors = ["orders"]

[[rule]]
role = "admin"
users = ["bob"]
connectors = ["bills-*"]

[[rule]]
role = "viewer"
users = ["eve"]
connectors = ["orders"]
"""
SECONDS: Final = 60.0
RPC_ROLES: Final = tuple(role.name for role in GRPC_ROLES)


@dataclass(frozen=True, slots=True)
class Certificates:
    """What clients may show."""

    ours: Authority
    known: Path
    """Signed by whom everybody here trusts."""
    foreign: Path
    """Signed by somebody else."""
    expired: Path


def make_certificates(folder: Path) -> Certificates:
    """Make them in a folder."""
    ours = Authority(folder)
    foreign = Authority(folder, "stranger").pem("foreign")
    return Certificates(ours, ours.pem("known"), foreign, ours.pem("expired", days=-1))


def guards(folder: Path, certificates: Certificates, issuer: Issuer, rest: str) -> Mapping[str, str]:
    """Return the worker properties that turn every guard on; `rest` is where REST listens."""
    rules = folder / "access.toml"
    rules.write_text(RULES)
    stores = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.ours.pem("service")),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.ours.file),
    }
    return {
        **issuer.settings,
        **{f"services.{key}": value for key, value in stores.items()},
        **{f"listeners.https.{key}": value for key, value in stores.items()},
        "listeners.https.ssl.client.auth": "required",
        "listeners": rest,
        "access.rules.file": str(rules),
        "access.audit.file": str(folder / "audit.log"),
        "access.token.clock.skew.ms": "0",
    }


class Guarded:
    """A running one, seen from outside."""

    def __init__(self, up: CopycatUp, certificates: Certificates, issuer: Issuer, audit: Path) -> None:
        """`audit`: the file of its lines."""
        self.pid = up.pid
        self.certificates = certificates
        self.issuer = issuer
        self.properties = read_properties(up.folder / "worker.properties")
        self._audit = audit

    @property
    def secret(self) -> str:
        """What its processes show each other."""
        return self.properties["cluster.secret"]

    @property
    def rest(self) -> str:
        """The `host:port` of REST."""
        return GATEWAY.address(self.properties)

    def address(self, role: str) -> str:
        """Return the `host:port` at which a role answers gRPC."""
        return ROLE_BY_NAME[role].address(self.properties)

    def bad_tokens(self) -> Mapping[str, str]:
        """Return tokens that are not good, by what is wrong with them."""
        ann = self.issuer.token("ann")
        header, claims, signature = ann.split(".")
        now = int(time.time())
        forged = part({"iss": self.issuer.url, "aud": "copycat", "sub": "ann", "exp": now + 300})
        return {
            "expired": self.issuer.token("ann", exp=now - 1),
            "not valid yet": self.issuer.token("ann", nbf=now + 300),
            "another audience": self.issuer.token("ann", aud="grafana"),
            "another issuer": self.issuer.token("ann", iss="https://elsewhere.example"),
            "other claims": f"{header}.{forged}.{signature}",
            "another signature": f"{header}.{claims}.{signature[:-8]}AAAAAAAA",
            "another key": self.issuer.forged("ann"),
            "no signature": f"{part({'alg': 'none'})}.{claims}.",
        }

    def channel(self, role: str, certificate: Path | None) -> grpc.Channel:
        """Return a channel over TLS that shows a certificate, or none."""
        shown = None if certificate is None else certificate.read_bytes()
        trusted = self.certificates.ours.file.read_bytes()
        return grpc.secure_channel(self.address(role), grpc.ssl_channel_credentials(trusted, shown, shown))

    def http(self, certificate: Path | None) -> httpx2.Client:
        """Return a client that shows a certificate, or none."""
        tls = ssl.create_default_context(cafile=self.certificates.ours.file)
        if certificate is not None:
            tls.load_cert_chain(certificate)
        return httpx2.Client(base_url=f"https://{self.rest}", verify=tls, timeout=SECONDS)

    def denials(self) -> Sequence[Mapping[str, str]]:
        """Return the lines of the audit that say that somebody was denied something."""
        lines = [json.loads(line) for line in self._audit.read_text("utf-8").splitlines()]
        return [line for line in lines if line["outcome"] == "denied"]


def showing(credential: str) -> tuple[tuple[str, str | bytes], ...]:
    """Return the metadata of a call that shows a secret or a token; none where that is empty."""
    return (("authorization", f"Bearer {credential}"),) if credential else ()


def call(channel: grpc.Channel, path: str, request: Message, credential: str) -> tuple[grpc.StatusCode, str]:
    """Make a call, with a secret or a token unless that is empty; returns its status and code of error."""
    method = channel.unary_unary(
        path, request_serializer=lambda message: message.SerializeToString(), response_deserializer=bytes
    )
    try:
        method(request, metadata=showing(credential), timeout=SECONDS)
    except grpc.RpcError as error:
        trailing: Any = error.trailing_metadata() or ()
        return error.code(), str(dict(trailing).get("copycat-error", ""))
    return grpc.StatusCode.OK, ""


@pytest.fixture(scope="package")
def issuer() -> Iterator[Issuer]:
    with an_issuer() as made:
        yield made


@pytest.fixture(scope="package")
def guarded(kafka: str, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Run it, with its one connector."""
    folder = tmp_path_factory.mktemp("guarded")
    certificates = make_certificates(folder)
    guarding = guards(folder, certificates, issuer, f"https://127.0.0.1:{free_ports(1)[0]}")
    with CopycatUp(folder / "data", kafka, settings={**guarding, **names(unique("guarded"))}) as up:
        running = Guarded(up, certificates, issuer, folder / "audit.log")
        with running.http(certificates.known) as ann:
            ann.headers.update(bearer(issuer.token("ann")))
            _create(ann, str(folder / "in.txt"))
        yield running


def _create(client: httpx2.Client, file: str) -> None:
    config = {"connector.class": "FileStreamSource", "file": file, "topic": unique("guarded")}

    def runs() -> bool:
        said = client.get(f"/connectors/{CONNECTOR}/status")
        return said.is_success and [task["state"] for task in said.json()["tasks"]] == ["RUNNING"]

    client.put(f"/connectors/{CONNECTOR}/config", json=config).raise_for_status()
    wait_until(runs, what=f"{CONNECTOR} runs")


@pytest.fixture(autouse=True)
def nothing_is_done(guarded: Guarded) -> Iterator[None]:
    """Whatever a test tries, the connector is there afterwards as it was."""
    yield
    with guarded.http(guarded.certificates.known) as ann:
        said = ann.get(f"/connectors/{CONNECTOR}/status", headers=bearer(guarded.issuer.token("ann"))).json()
    assert (said["connector"]["state"], [task["state"] for task in said["tasks"]]) == ("RUNNING", ["RUNNING"])
