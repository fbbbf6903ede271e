"""TLS on gRPC: who gets in, who is refused and reads why, and certificates replaced under calls."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_rpc.channel import open_channel
from copycat_rpc.health import serves
from copycat_rpc.server import RpcServer
from copycat_rpc.tls import ServicesTls, services_tls
from copycat_testkit.certificates import CLIENT, SERVER, Authority
from copycat_testkit.eventually import eventually


class Service(rpc.ConfigServiceServicer):
    """Answers whoever comes through; a watch goes on until it is released."""

    def __init__(self) -> None:
        self.calls = 0
        self.release = asyncio.Event()

    async def GetConnector(self, request: Any, context: Any) -> Any:
        self.calls += 1
        return pb.GetConnectorResponse(connector=pb.Connector(name=request.name))

    async def WatchConnectors(self, request: Any, context: Any) -> AsyncIterator[Any]:
        self.calls += 1
        yield pb.WatchConnectorsResponse(removed="first")
        await self.release.wait()
        yield pb.WatchConnectorsResponse(removed="last")


class Files:
    """The two files of a worker's properties, which are replaced as tools for certificates do it."""

    def __init__(self, folder: Path, *authorities: Authority) -> None:
        self.keystore, self.truststore = folder / "keystore.pem", folder / "truststore.pem"
        self.show(authorities[0])
        self.trust(*authorities)
        self.properties = {
            "services.ssl.keystore.type": "PEM",
            "services.ssl.keystore.location": str(self.keystore),
            "services.ssl.truststore.type": "PEM",
            "services.ssl.truststore.location": str(self.truststore),
        }

    def show(self, authority: Authority) -> None:
        """Put a certificate of this authority in place of the one before."""
        authority.pem("service").replace(self.keystore)

    def trust(self, *authorities: Authority) -> None:
        """Trust these, and nobody else."""
        made = self.truststore.with_suffix(".new")
        made.write_bytes(b"".join(each.file.read_bytes() for each in authorities))
        made.replace(self.truststore)

    def tls(self, **more: str) -> ServicesTls:
        """Return what a process with these files has."""
        made = services_tls({**self.properties, **{f"services.ssl.{key}": more[key] for key in more}})
        assert made is not None
        return made


def authority(folder: Path, name: str) -> Authority:
    own = folder / name
    own.mkdir()
    return Authority(own, name)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path, authority(tmp_path, "ours"))


@asynccontextmanager
async def serving(tls: ServicesTls | None, *, trusted: str = "") -> AsyncIterator[tuple[Service, str]]:
    server, service = RpcServer("127.0.0.1:0", tls=tls, trusted=trusted), Service()
    server.add(rpc.add_ConfigServiceServicer_to_server, service, "copycat.config.v1.ConfigService")
    address = await server.start()
    await server.set_serving(True)
    try:
        yield service, address
    finally:
        await server.stop(0)


async def get(channel: grpc.aio.Channel, timeout: float = 60) -> str:
    request = pb.GetConnectorRequest(name="a")
    reply = await rpc.ConfigServiceStub(channel).GetConnector(request, timeout=timeout)
    return str(reply.connector.name)


async def asked(address: str, tls: ServicesTls | None, timeout: float = 60) -> str:
    async with open_channel([address], tls=tls) as channel:
        return await get(channel, timeout)


async def shown(address: str, files: Files) -> bytes:
    """Return the certificate that a new connection meets."""
    context = ssl.create_default_context(cafile=str(files.truststore))
    context.load_cert_chain(files.keystore)
    context.set_alpn_protocols(["h2"])
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return found


async def test_who_shows_a_certificate_of_the_cluster_is_answered(files: Files) -> None:
    async with serving(files.tls()) as (service, address), open_channel([address], tls=files.tls()) as ours:
        service.release.set()
        watched = rpc.ConfigServiceStub(ours).WatchConnectors(pb.WatchConnectorsRequest())
        assert await get(ours) == "a"
        assert [each.removed async for each in watched] == ["first", "last"]
        assert await serves(address, 60, tls=files.tls())
        assert not await serves(address, 0.5)


async def test_instances_share_a_name_where_their_certificates_do(files: Files) -> None:
    tls = files.tls(**{"server.name": "localhost"})
    async with serving(tls) as (one, first), serving(tls) as (two, second):
        async with open_channel([first, second], tls=tls) as channel:
            for _ in range(4):
                assert await get(channel) == "a"
        assert one.calls
        assert two.calls
        with pytest.raises(UnavailableError):
            await asked(first, files.tls(**{"server.name": "elsewhere"}), timeout=1)


def strangers(folder: Path, files: Files) -> dict[str, grpc.ChannelCredentials | None]:
    """Return what those show who do not belong to the cluster."""
    trusted = files.truststore.read_bytes()
    other, ours = authority(folder, "other"), authority(folder, "again")
    files.show(ours)
    files.trust(ours)
    trusted = files.truststore.read_bytes()

    def shows(pem: Path | None) -> grpc.ChannelCredentials:
        text = None if pem is None else pem.read_bytes()
        return grpc.ssl_channel_credentials(trusted, text, text)

    return {
        "plain text": None,
        "no certificate": shows(None),
        "of another authority": shows(other.pem("stranger")),
        "expired": shows(ours.pem("expired", days=-1)),
        "for servers only": shows(ours.pem("server", uses=[SERVER])),
    }


async def test_nobody_else_is(files: Files, tmp_path: Path) -> None:
    found = strangers(tmp_path, files)
    async with serving(files.tls()) as (service, address):
        for who, known in found.items():
            channel = (
                grpc.aio.insecure_channel(address)
                if known is None
                else grpc.aio.secure_channel(address, known)
            )
            async with channel:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await get(channel)
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE, who
        assert await asked(address, files.tls()) == "a"
    assert service.calls == 1


async def test_a_server_that_asks_no_certificate_is_still_known_by_its_own(files: Files) -> None:
    trusted = files.truststore.read_bytes()
    known = grpc.ssl_channel_credentials(trusted)
    async with (
        serving(files.tls(**{"client.auth": "none"})) as (_, address),
        grpc.aio.secure_channel(address, known) as nameless,
    ):
        assert await get(nameless) == "a"


async def test_a_server_may_accept_more_than_its_cluster(files: Files, tmp_path: Path) -> None:
    hosts = authority(tmp_path, "hosts")
    text = hosts.pem("host", uses=[CLIENT]).read_bytes()
    known = grpc.ssl_channel_credentials(files.truststore.read_bytes(), text, text)
    async with serving(files.tls(), trusted=hosts.file.read_text()) as (_, address):
        async with grpc.aio.secure_channel(address, known) as host:
            assert await get(host) == "a"
        assert await asked(address, files.tls()) == "a"


Sides = tuple[ServicesTls | None, ServicesTls | None]


def neither_knows(folder: Path) -> Sides:
    return tuple(Files(_made(folder, name), authority(folder, f"of {name}")).tls() for name in "ab")  # type: ignore[return-value]


def only_the_client_knows(folder: Path) -> Sides:
    one, other = authority(folder, "one"), authority(folder, "other")
    return Files(_made(folder, "a"), one).tls(), Files(_made(folder, "b"), other, one).tls()


def only_the_server_encrypts(folder: Path) -> Sides:
    return Files(folder, authority(folder, "one")).tls(), None


def only_the_client_encrypts(folder: Path) -> Sides:
    return None, Files(folder, authority(folder, "one")).tls()


def _made(folder: Path, name: str) -> Path:
    made = folder / f"files of {name}"
    made.mkdir()
    return made


@pytest.mark.parametrize(
    ("sides", "reason"),
    [
        (neither_knows, "its certificate is refused here (unable to get local issuer certificate)"),
        (only_the_client_knows, "it refuses the certificate of this process"),
        (only_the_server_encrypts, "it speaks TLS and this process does not: set services.ssl.*"),
        (only_the_client_encrypts, "it does not speak TLS ("),
    ],
)
async def test_a_process_says_why_it_gets_no_connection(
    sides: Callable[[Path], Sides], reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    theirs, ours = sides(tmp_path)

    def told() -> bool:
        return any(
            text.startswith(f"no connection to {address}: {reason}") and "services.ssl.*" in text
            for text in caplog.messages
        )

    async with serving(theirs) as (service, address), open_channel([address], tls=ours) as channel:
        with pytest.raises(UnavailableError):
            await get(channel, timeout=1)
        await eventually(told, 60)
    assert not service.calls


async def test_certificates_and_their_authority_are_replaced_under_calls(tmp_path: Path) -> None:
    old, new = authority(tmp_path, "old"), authority(tmp_path, "new")
    files, former = Files(tmp_path, old), Files(_made(tmp_path, "who was not told"), old)
    ours, outdated, going = files.tls(), former.tls(), True
    answers: list[str] = []

    async with serving(files.tls()) as (service, address), open_channel([address], tls=ours) as channel:

        async def call_all_the_time(ask: Callable[[], Any]) -> None:
            while going:
                answers.append(await ask())

        callers = [
            asyncio.create_task(call_all_the_time(ask))
            for ask in (lambda: get(channel), lambda: asked(address, ours))
        ]
        watch = aiter(rpc.ConfigServiceStub(channel).WatchConnectors(pb.WatchConnectorsRequest()))
        assert (await anext(watch)).removed == "first"
        before = await shown(address, files)

        steps: list[Callable[[], None]] = [
            lambda: files.trust(old, new),
            lambda: files.show(new),
            lambda: files.trust(new),
        ]
        for step in steps:
            step()
            seen = len(answers)
            await eventually(lambda seen=seen: len(answers) > seen + 20, 60)  # type: ignore[misc]

        assert await shown(address, files) != before
        assert await asked(address, files.tls()) == "a"
        with pytest.raises(UnavailableError):
            await asked(address, outdated, timeout=1)
        service.release.set()
        assert (await anext(watch)).removed == "last", "what began before goes on"
        going = False
        await asyncio.gather(*callers)

    assert set(answers) == {"a"}


async def test_files_that_are_wrong_are_not_used(files: Files, caplog: pytest.LogCaptureFixture) -> None:
    ours, right = files.tls(), files.keystore.read_bytes()
    async with serving(files.tls()) as (_, address):
        files.keystore.write_bytes(right[: len(right) // 2])
        assert await asked(address, ours) == "a"
        assert await asked(address, ours) == "a"
        files.keystore.write_bytes(right)
        assert await asked(address, ours) == "a"

    told = [text for text in caplog.messages if "services.ssl.keystore.location" in text]
    assert len(told) == 2, "the server and the client, once each"
    assert all(text.startswith("the new TLS files are not used, the former ones count on") for text in told)


EXPIRED = "services.ssl.keystore.location has a certificate that expired on"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"keystore.location": ""}, "services.ssl.keystore.location is not set: name the file that holds"),
        ({"keystore.location": "/nowhere"}, "'/nowhere', which cannot be read (No such file or directory)"),
        ({"truststore.location": ""}, "services.ssl.truststore.location is not set: name the file"),
        ({"truststore.type": "PKCS12"}, "which is PEM text, but services.ssl.truststore.type is PKCS12"),
        ({"client.auth": "requested"}, "services.ssl.client.auth is 'requested', which gRPC cannot do"),
        ({"client.auth": "maybe"}, "services.ssl.client.auth has 'maybe': write one of none, requested"),
        ({"trustore.type": "PEM"}, "services.ssl.trustore.type is not supported between services: after"),
        ({"enabled.protocols": "TLSv1.3"}, "services.ssl.enabled.protocols is not supported between"),
    ],
)
def test_wrong_keys_are_named_with_their_fix(files: Files, change: dict[str, str], says: str) -> None:
    properties = files.properties | {f"services.ssl.{key}": text for key, text in change.items()}
    with pytest.raises(ConfigError) as caught:
        services_tls({key: text for key, text in properties.items() if text})
    assert says in caught.value.message


def test_a_certificate_that_has_expired_is_not_begun_with(tmp_path: Path) -> None:
    ours = authority(tmp_path, "ours")
    files = Files(tmp_path, ours)
    ours.pem("expired", days=-1).replace(files.keystore)
    with pytest.raises(ConfigError, match=EXPIRED):
        files.tls()


@pytest.mark.parametrize("properties", [{}, {"ssl.keystore.location": "of the REST interface"}])
def test_nothing_is_encrypted_unless_a_key_says_so(properties: dict[str, str]) -> None:
    assert services_tls(properties) is None
