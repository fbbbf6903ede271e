"""The gateway's settings: its keys of the worker properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from copycat_access.settings import ACCESS, AccessSettings, read_access
from copycat_connect.config import HIGH, LIST, LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.config.delivery import ExactlyOnceSources
from copycat_connect.config.settings import Settings, key, seconds_key, shared_key, taken_from
from copycat_connect.config.worker_keys import CLUSTER_SECRET, EXACTLY_ONCE, KIP_STRICT
from copycat_rest.advertised import ADVERTISED, advertised_url
from copycat_rest.listeners import HTTPS, LISTENERS, Listener, parse_listener
from copycat_rpc.secret import cluster_secret
from copycat_rpc.services import ADDRESS_KEYS, Addresses
from copycat_rpc.tls import ServicesTls, services_tls
from copycat_tls.keys import ADMIN_PREFIX, REST_PREFIX, Tls, read_tls

from copycat_gateway.access.foreign_pages import KEY as ORIGINS
from copycat_gateway.access.foreign_pages import Trusted, trusted
from copycat_gateway.edge.headers import HeaderRule, header_rules
from copycat_gateway.extensions.loading import KEY as EXTENSIONS

ADMIN_LISTENERS: Final = ConfigKey(
    "admin.listeners",
    LIST,
    LOW,
    default=None,
    doc="Where /admin answers: with the rest when not set, nowhere when empty.",
)
TRUSTED_ORIGINS: Final = ConfigKey(
    ORIGINS,
    LIST,
    LOW,
    default=(),
    doc="Origins (http://host:port) of web pages that may call beside our own, and by whose host names"
    " we may be called, e.g. a proxy's; * for all. Programs need none of it.",
)
_HEADERS: Final = "response.http.headers.config"


def _listeners(declared: ConfigKey) -> Callable[[Sequence[str]], Sequence[Listener]]:
    return lambda texts: tuple(parse_listener(declared.name, text) for text in texts)


def _read_listeners(worker: Mapping[str, str], declared: ConfigKey) -> Sequence[Listener]:
    return _listeners(declared)(ConfigDef(declared).parse(worker)[declared.name] or ())


def _tls(declared: ConfigKey, prefix: str) -> Callable[[Mapping[str, str]], Tls | None]:
    """Return what reads the settings of TLS, where a listener has https."""

    def read(worker: Mapping[str, str]) -> Tls | None:
        encrypted = any(each.scheme == HTTPS for each in _read_listeners(worker, declared))
        return read_tls(worker, prefix) if encrypted else None

    return read


def _trusted_pages(worker: Mapping[str, str]) -> Trusted:
    listeners = (*_read_listeners(worker, LISTENERS), *_read_listeners(worker, ADMIN_LISTENERS))
    return trusted(ConfigDef(TRUSTED_ORIGINS).parse(worker)[ORIGINS], advertised_url(worker), listeners)


def _split(text: str) -> Sequence[str]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _commit() -> str:
    """Return what an image build wrote beside this module."""
    written = Path(__file__).with_name("COMMIT")
    return written.read_text("ascii").strip() if written.is_file() else "unknown"


class GatewaySettings(Settings):
    """The settings, parsed and checked; times are in seconds."""

    access: AccessSettings = taken_from(read_access, keys=ACCESS.keys.values())
    """Who is let in, and what they may do."""
    listeners: Sequence[Listener] = shared_key(LISTENERS, read=_listeners(LISTENERS))
    admin_listeners: Sequence[Listener] | None = shared_key(ADMIN_LISTENERS, read=_listeners(ADMIN_LISTENERS))
    """Missing: /admin answers with the rest; none: nowhere."""
    tls: Tls | None = taken_from(_tls(LISTENERS, REST_PREFIX))
    """Settings of TLS for listeners with https; missing without one."""
    admin_tls: Tls | None = taken_from(_tls(ADMIN_LISTENERS, ADMIN_PREFIX))
    """The same for those of /admin."""
    addresses: Addresses = taken_from(Addresses.of, keys=ADDRESS_KEYS)
    secret: str = taken_from(cluster_secret, keys=[CLUSTER_SECRET])
    services_tls: ServicesTls | None = taken_from(services_tls)
    """What the services are called with; missing where gRPC is in plain text."""
    exactly_once_sources: ExactlyOnceSources = taken_from(ExactlyOnceSources.of, keys=[EXACTLY_ONCE])
    kip_strict: bool = shared_key(KIP_STRICT)
    allow_origins: Sequence[str] = key(
        LOW,
        name="access.control.allow.origin",
        type=STRING,
        default="",
        read=_split,
        doc="Origins browsers may call from, comma separated, * for all; empty sends no CORS headers.",
    )
    allow_methods: Sequence[str] = key(
        LOW,
        name="access.control.allow.methods",
        type=STRING,
        default="",
        read=lambda text: _split(text) or ("GET", "POST", "HEAD"),
        doc="Methods they may call, comma separated; GET, POST and HEAD when empty.",
    )
    trusted_pages: Trusted = taken_from(_trusted_pages, keys=[TRUSTED_ORIGINS, *ADVERTISED])
    """Web pages whose requests are carried out."""
    header_rules: Sequence[HeaderRule] = key(
        LOW,
        name=_HEADERS,
        type=STRING,
        default="",
        read=lambda text: header_rules(_HEADERS, text),
        doc="Headers of every response, comma separated: set, add, setDate or addDate, then name:value.",
    )
    extensions: tuple[str, ...] = key(
        LOW,
        name=EXTENSIONS,
        default=(),
        doc="Class names or aliases of REST extensions, which take their turn in this order.",
    )
    rebalance_timeout: float = seconds_key(
        "rebalance.timeout.ms",
        default=60_000,
        importance=HIGH,
        doc="Milliseconds within which REST extensions get an answer about the cluster.",
    )
    request_timeout: float = seconds_key(
        "rest.request.timeout.ms", default=90_000, doc="Milliseconds after which a request fails."
    )
    health_timeout: float = seconds_key(
        "rest.health.timeout.ms",
        default=10_000,
        least=0,
        doc="Milliseconds GET /health waits for the services to answer.",
    )
    worker_wait: float = seconds_key(
        "rest.worker.wait.ms",
        default=10_000,
        least=0,
        doc="Milliseconds a request waits for a live worker, or for an instance to be assigned to one.",
    )
    version: str = taken_from(lambda _: version("copycat-gateway"))
    """Our own version."""
    commit: str = taken_from(lambda _: _commit())
    """The commit this was built from, where the build says so."""


def read_settings(properties: Mapping[str, str]) -> GatewaySettings:
    """Read the worker properties.

    Raises:
        ConfigError: A value is wrong.
    """
    return GatewaySettings.parse(properties)
