"""The gateway's settings: its keys of the worker properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import cast

from copycat_access.settings import ACCESS, AccessSettings, read_access
from copycat_connect.config import (
    HIGH,
    LIST,
    LONG,
    LOW,
    STRING,
    ConfigDef,
    ConfigKey,
    at_least,
)
from copycat_connect.config.delivery import ExactlyOnceSources
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
from copycat_gateway.extensions.installed import KEY as EXTENSIONS

ADMIN_LISTENERS = "admin.listeners"

SETTINGS = ConfigDef(
    *ACCESS.keys.values(),
    LISTENERS,
    *ADVERTISED,
    ConfigKey(
        ADMIN_LISTENERS,
        LIST,
        LOW,
        default=None,
        doc="Where /admin answers: with the rest when not set, nowhere when empty.",
    ),
    *ADDRESS_KEYS,
    CLUSTER_SECRET,
    EXACTLY_ONCE,
    KIP_STRICT,
    ConfigKey(
        "access.control.allow.origin",
        STRING,
        LOW,
        default="",
        doc="Origins browsers may call from, comma separated, * for all; empty sends no CORS headers.",
    ),
    ConfigKey(
        "access.control.allow.methods",
        STRING,
        LOW,
        default="",
        doc="Methods they may call, comma separated; GET, POST and HEAD when empty.",
    ),
    ConfigKey(
        ORIGINS,
        LIST,
        LOW,
        default=(),
        doc="Origins (http://host:port) of web pages that may call beside our own, and by whose host names"
        " we may be called, e.g. a proxy's; * for all. Programs need none of it.",
    ),
    ConfigKey(
        "response.http.headers.config",
        STRING,
        LOW,
        default="",
        doc="Headers of every response, comma separated: set, add, setDate or addDate, then name:value.",
    ),
    ConfigKey(
        EXTENSIONS,
        LIST,
        LOW,
        default=(),
        doc="Class names or aliases of REST extensions, which take their turn in this order.",
    ),
    ConfigKey(
        "rebalance.timeout.ms",
        LONG,
        HIGH,
        default=60_000,
        validator=at_least(1),
        doc="Milliseconds within which REST extensions get an answer about the cluster.",
    ),
    ConfigKey(
        "rest.request.timeout.ms",
        LONG,
        LOW,
        default=90_000,
        validator=at_least(1),
        doc="Milliseconds after which a request fails.",
    ),
    ConfigKey(
        "rest.health.timeout.ms",
        LONG,
        LOW,
        default=10_000,
        validator=at_least(0),
        doc="Milliseconds GET /health waits for the services to answer.",
    ),
    ConfigKey(
        "rest.worker.wait.ms",
        LONG,
        LOW,
        default=10_000,
        validator=at_least(0),
        doc="Milliseconds a request waits for a live worker, or for an instance to be assigned to one.",
    ),
)


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """The settings, parsed and checked."""

    listeners: Sequence[Listener]
    """Where the REST interface listens."""
    admin_listeners: Sequence[Listener] | None
    """Where /admin answers; missing: with the rest; none: nowhere."""
    tls: Tls | None
    """Settings of TLS for listeners with https; missing without one."""
    admin_tls: Tls | None
    """The same for those of /admin."""
    addresses: Addresses
    """Where the services are."""
    secret: str = field(repr=False)
    """Secret of the cluster; empty for none."""
    services_tls: ServicesTls | None
    """What the services are called with; missing where gRPC is in plain text."""
    exactly_once_sources: ExactlyOnceSources
    """Which source connectors deliver exactly once."""
    kip_strict: bool
    """The KIPs' own text counts where Kafka Connect was released with another behaviour."""
    allow_origins: Sequence[str]
    """Origins of cross-site requests."""
    allow_methods: Sequence[str]
    """Methods of cross-site requests."""
    trusted_pages: Trusted
    """Web pages whose requests are carried out."""
    header_rules: Sequence[HeaderRule]
    """Headers of every response."""
    access: AccessSettings
    """Who is let in, and what they may do."""
    extensions: Sequence[str]
    """REST extensions, in their order."""
    request_timeout: float
    """Seconds after which a request fails."""
    health_timeout: float
    """Seconds a health check waits."""
    rebalance_timeout: float
    """Seconds within which REST extensions get an answer about the cluster."""
    worker_wait: float
    """Seconds a request waits for a worker."""
    version: str
    """Our own version."""
    commit: str
    """The commit this was built from, where the build says so."""


def read_settings(properties: Mapping[str, str]) -> GatewaySettings:
    """Read the worker properties.

    Raises:
        ConfigError: A value is wrong.
    """
    parsed = SETTINGS.parse(properties)
    admin = parsed[ADMIN_LISTENERS]
    listeners = _listeners(LISTENERS.name, parsed[LISTENERS.name])
    admin_listeners = None if admin is None else _listeners(ADMIN_LISTENERS, admin)
    return GatewaySettings(
        listeners=listeners,
        admin_listeners=admin_listeners,
        tls=_tls(properties, REST_PREFIX, listeners),
        admin_tls=_tls(properties, ADMIN_PREFIX, admin_listeners or ()),
        addresses=Addresses.of(properties),
        secret=cluster_secret(properties),
        services_tls=services_tls(properties),
        exactly_once_sources=ExactlyOnceSources.of(properties),
        kip_strict=bool(parsed[KIP_STRICT.name]),
        allow_origins=_split(parsed["access.control.allow.origin"]),
        allow_methods=_split(parsed["access.control.allow.methods"]) or ("GET", "POST", "HEAD"),
        trusted_pages=trusted(
            _strings(parsed[ORIGINS]), advertised_url(properties), (*listeners, *(admin_listeners or ()))
        ),
        header_rules=header_rules(
            "response.http.headers.config", str(parsed["response.http.headers.config"])
        ),
        access=read_access(properties),
        extensions=tuple(_strings(parsed[EXTENSIONS])),
        request_timeout=_seconds(parsed["rest.request.timeout.ms"]),
        health_timeout=_seconds(parsed["rest.health.timeout.ms"]),
        rebalance_timeout=_seconds(parsed["rebalance.timeout.ms"]),
        worker_wait=_seconds(parsed["rest.worker.wait.ms"]),
        version=version("copycat-gateway"),
        commit=_commit(),
    )


def _listeners(key: str, value: object) -> Sequence[Listener]:
    return tuple(parse_listener(key, text) for text in _strings(value))


def _tls(properties: Mapping[str, str], prefix: str, listeners: Sequence[Listener]) -> Tls | None:
    return read_tls(properties, prefix) if any(each.scheme == HTTPS for each in listeners) else None


def _strings(value: object) -> Sequence[str]:
    return cast("Sequence[str]", value)


def _split(value: object) -> Sequence[str]:
    return tuple(part.strip() for part in str(value).split(",") if part.strip())


def _seconds(value: object) -> float:
    return cast("int", value) / 1000


def _commit() -> str:
    """Return what an image build wrote beside this module."""
    written = Path(__file__).with_name("COMMIT")
    return written.read_text("ascii").strip() if written.is_file() else "unknown"
