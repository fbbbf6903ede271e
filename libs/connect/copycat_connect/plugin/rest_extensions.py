"""REST extensions: what an operator adds to the REST interface, such as a check of who calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from copycat_connect.cluster import Caller, Config


@dataclass(frozen=True, slots=True)
class RestRequest:
    """A request as an extension sees it."""

    method: str
    """GET, POST, ... as it was sent; HEAD too."""
    path: str
    """The path with a leading `/`, every segment percent-encoded alike: equal paths are equal texts."""
    query: str = ""
    """What follows the `?`, as it was sent."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers by lower-case name; the values of one sent several times are joined by `, `."""
    body: bytes = b""
    """The body; filters see none."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What stands in place of each `{name}` of a resource's path, decoded."""


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """An answer of an extension."""

    status: int
    """The HTTP status."""
    body: str | bytes = ""
    """The body; text is sent as UTF-8."""
    content_type: str = "application/json"
    """What the body is; not sent where it is empty."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""


@dataclass(frozen=True, slots=True)
class InstanceHealth:
    """What a connector or a task does."""

    state: str
    """RUNNING, PAUSED, FAILED ... as in REST."""
    worker_id: str
    """Where."""
    trace: str | None = None
    """Why it failed."""


@dataclass(frozen=True, slots=True)
class ConnectorHealth:
    """What a connector and its tasks do."""

    name: str
    """The connector."""
    type: str
    """source, sink or unknown."""
    connector: InstanceHealth
    """The connector itself."""
    tasks: Mapping[int, InstanceHealth]
    """Its tasks by index."""


@dataclass(frozen=True, slots=True)
class ClusterDetails:
    """What is known about the cluster."""

    kafka_cluster_id: str | None
    """Id of the Kafka cluster; None where the worker does not know it."""


class ClusterState(Protocol):
    """What an extension may ask about the cluster, at any time and from any thread.

    Every call blocks until the cluster has answered, at most as long as the smaller of
    `rest.request.timeout.ms` and `rebalance.timeout.ms`, and then raises a ConnectError.
    """

    def connectors(self) -> tuple[str, ...]:
        """Return the names of the connectors."""

    def connector_health(self, name: str) -> ConnectorHealth:
        """Return what a connector and its tasks do.

        Raises:
            NoSuchConnectorError: It does not exist, or nothing is known of it yet.
        """

    def connector_config(self, name: str) -> Config:
        """Return a connector's configuration as it was given; placeholders are never resolved.

        Raises:
            NoSuchConnectorError: It does not exist.
        """

    def cluster_details(self) -> ClusterDetails:
        """Return what is known about the cluster."""


Authenticator = Callable[[RestRequest], Caller | RestAnswer | None]
"""Says who sent a request, or answers it; None lets it pass as sent by somebody who is not known."""
RequestFilter = Callable[[RestRequest], RestAnswer | None]
"""Sees a request before anything else does; its answer is sent instead, None lets the request pass."""
Resource = Callable[[RestRequest], RestAnswer]
"""Answers the requests to one method and path."""


class RestExtensionContext(Protocol):
    """What the engine offers to an extension that registers."""

    @property
    def cluster_state(self) -> ClusterState:
        """The cluster; it may be kept and asked later."""

    def add_authenticator(self, scheme: str, authenticate: Authenticator) -> None:
        """Say who sends the requests whose header `Authorization` is of a scheme, such as `Basic`.

        It is asked before all filters, of every request that filters see. A request without that header,
        or of a scheme that is nobody's, is shown to all authenticators in their order: the first answer
        that is not None counts. So several schemes can be offered side by side.

        Raises:
            ConfigError: The scheme has an authenticator already.
        """

    def add_filter(self, decide: RequestFilter) -> None:
        """Let a function see every request to any path, known or not, of every listener.

        Filters run in the order in which they are added, those of an earlier extension first. Only
        preflight requests of browsers (CORS), where origins are allowed, and paths that cannot be read
        are answered without them.
        """

    def add_resource(self, method: str, path: str, answer: Resource) -> None:
        """Answer a method and path, e.g. `GET` and `/guests/{name}`; a segment in braces takes any text.

        Raises:
            ConfigError: The path is malformed, or requests to it are answered already.
        """


class RestExtension(ABC):
    """Adds filters and resources to the REST interface; named in `rest.extension.classes`.

    The engine calls `configure`, then `register`, before the first request is answered; extensions take
    their turn in the order of the list. One that raises there stops the start. Filters and resources are
    called from many threads at once; one that raises is answered with 500 and takes nothing down, one that
    takes longer than `rest.request.timeout.ms` is waited for no longer. At the end comes `close`.
    """

    def configure(self, configs: Mapping[str, str]) -> None:
        """Start with the worker's properties, all of them.

        Raises:
            ConfigError: They are wrong for this extension.
        """

    @abstractmethod
    def register(self, context: RestExtensionContext) -> None:
        """Add filters and resources."""

    def close(self) -> None:
        """Let go of everything."""
