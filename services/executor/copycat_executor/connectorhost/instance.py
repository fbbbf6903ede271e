"""One running connector: its author code in one daemon thread, its calls one after the other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigDef
from copycat_connect.config.framework_names import TOPIC_CREATION_PREFIX
from copycat_connect.config.topic_creation import DEFAULT_GROUP, creation_groups, creation_warnings
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_CREATION
from copycat_connect.error_text import bounded, said_by
from copycat_connect.errors import ConnectError
from copycat_connect.plugin.connectors import SinkConnector, SourceConnector
from copycat_connect.plugin.spec import PluginKind, PluginSpec
from copycat_connect.validation import connector_plugin
from copycat_telemetry.context import log_context

from copycat_executor.connectorhost.author_thread import AuthorThread, GivenUpError, Job
from copycat_executor.connectorhost.plugin_answers import identity
from copycat_executor.connectorhost.resources import ConnectorResources
from copycat_executor.connectorhost.secrets import Resolved
from copycat_executor.domain.running import UsedPlugin
from copycat_executor.pipes.authors import connector_author, tag_of
from copycat_executor.pipes.connector_messages import (
    ConnectorFailed,
    ConnectorWaits,
    ReconfigurationWanted,
    SecretsExpired,
)
from copycat_executor.pipes.failures import Declared, failure, shown_text

log = logging.getLogger(__name__)
Event = ReconfigurationWanted | ConnectorFailed | ConnectorWaits | SecretsExpired
SendEvent = Callable[[Event], None]
#: A lease that is shorter would have its connector start all the time.
MIN_LEASE_SECONDS = 1.0


class ConnectorInstance:
    """A connector from its start to its stop; after `abandon` it is silent."""

    def __init__(
        self, incarnation: int, config: Config, resources: ConnectorResources, send: SendEvent
    ) -> None:
        """Prepare; `send` sends an event to the executor."""
        self._incarnation = incarnation
        self._resources = resources
        self._config = Resolved(config, config)
        self._send = send
        self._spec: PluginSpec | None = None
        self._connector: SourceConnector | SinkConnector | None = None
        self._abandoned = False
        self._waits = ""
        self._saying = threading.Lock()
        self._lease: threading.Timer | None = None
        self.authors = (connector_author(self.name),)
        self.thread = AuthorThread(f"connector-{incarnation}", tag_of(self.authors[0]), self._name_thread)

    @property
    def name(self) -> str:
        """Name of the connector."""
        return self._config.raw.get("name") or f"{self._incarnation}"

    def scrub(self, text: str) -> str:
        """Remove the connector's secrets from a text."""
        return self._config.scrub(text)

    def declared(self) -> Declared:
        """Return what its plugin says of exceptions."""
        return {} if self._spec is None else self._spec.failures

    def submit(self, job: Job) -> None:
        """Run a job in the connector's thread, after those before it."""
        self.thread.submit(job)

    def start(self) -> UsedPlugin:
        """Resolve the configuration, make the connector and start it; reading secrets may block, too."""
        self._config = Resolved.of(self._config.raw, self._resources.placeholders)
        spec = connector_plugin(self._config.values, self._resources.plugins)
        check_creation_keys(spec.kind, self._config.values, self._resources.worker)
        self._spec = spec
        connector = spec.make()
        connector.initialize(self)
        connector.start(self._config.given())
        self._connector = connector
        self._begin_lease()
        return identity(spec)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Ask for task configurations, complete and without secrets."""
        assert self._connector is not None  # started before
        assert self._spec is not None  # likewise
        return _publishable(self._spec, self._config, self._connector.task_configs(max_tasks))

    def stop(self) -> None:
        """Stop the connector; its thread ends."""
        self._end_lease()
        self.thread.end()
        connector, self._connector = self._connector, None
        if connector is not None:
            connector.stop()

    def abandon(self) -> None:
        """Give it up: what it says no longer counts, what it does is interrupted, and it is stopped."""
        self._abandoned = True
        self._end_lease()
        self.thread.submit(self._stop_late)
        self.thread.end()
        self.thread.interrupt(GivenUpError)

    def processor_seconds(self) -> float:
        """Return how much processor time its thread has used."""
        return self.thread.processor_seconds()

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise an error in what it does now."""
        self.thread.interrupt(error)

    def request_task_reconfiguration(self) -> None:
        """Have the executor ask for task configurations again (ConnectorContext)."""
        self._report(ReconfigurationWanted(self._incarnation))

    def raise_error(self, error: BaseException) -> None:
        """Report to the executor that the connector failed outside of a call (ConnectorContext)."""
        self._report(ConnectorFailed(self._incarnation, failure(error, self.scrub, self.declared())))

    def waiting(self, reason: str | None) -> None:
        """Report to the executor what the connector waits for, if that is news (ConnectorContext)."""
        said = "" if reason is None else shown_text(reason, self.scrub)
        with self._saying:
            if said != self._waits:
                self._waits = said
                self._report(ConnectorWaits(self._incarnation, said))

    def _name_thread(self) -> None:
        """Have what this thread logs and prints, and the threads it starts, bear the connector's name."""
        log_context.set({"connector": self.name})

    def _begin_lease(self) -> None:
        seconds = self._config.expires_after
        if seconds is not None:
            expired = SecretsExpired(self._incarnation)
            self._lease = threading.Timer(max(seconds, MIN_LEASE_SECONDS), self._report, (expired,))
            self._lease.daemon = True
            self._lease.start()

    def _end_lease(self) -> None:
        if self._lease is not None:
            self._lease.cancel()

    def _report(self, event: Event) -> None:
        if not self._abandoned:
            self._send(event)

    def _stop_late(self) -> None:
        try:
            self.stop()
        except BaseException as error:  # nobody waits for it any more
            log.warning("an abandoned connector failed to stop: %s", bounded(self.scrub(said_by(error))))


def check_creation_keys(kind: PluginKind, config: Config, worker: Mapping[str, str]) -> None:
    """Check the keys as Kafka Connect does when a connector starts, and warn of those without effect.

    Raises:
        ConfigError: The worker creates topics, and a key is missing or wrong.
    """
    for warning in _warnings(kind, config, worker):
        log.warning("connector %s: %s", config.get("name"), warning)


def _warnings(kind: PluginKind, config: Config, worker: Mapping[str, str]) -> Iterator[str]:
    if not any(key.startswith(TOPIC_CREATION_PREFIX) for key in config):
        return
    if kind is PluginKind.SINK:
        yield f"{TOPIC_CREATION_PREFIX}* keys have no effect: sink connectors create no topics"
        return
    switches = ConfigDef(KIP_STRICT, TOPIC_CREATION).parse(worker)
    if not switches[TOPIC_CREATION.name]:
        yield f"{TOPIC_CREATION_PREFIX}* keys have no effect: the worker has {TOPIC_CREATION.name}=false"
    elif creation_groups(config, strict=switches[KIP_STRICT.name]) is None:
        yield f"{TOPIC_CREATION_PREFIX}* keys have no effect without both sizes of the group {DEFAULT_GROUP}"
    else:
        yield from creation_warnings(config)


_TASK_CLASS = "task.class"
_SUBSCRIPTIONS = ("topics", "topics.regex")


def _publishable(
    spec: PluginSpec, config: Resolved, task_configs: Sequence[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Complete task configurations and take the secrets out of them.

    Raises:
        ConnectError: They are not maps from text to text.
    """
    _check(task_configs)
    copied = {} if spec.kind is not PluginKind.SINK else _subscription(config)
    completed = [{**each, _TASK_CLASS: spec.task_class_name, **copied} for each in task_configs]
    return config.restore(completed)


def _subscription(config: Resolved) -> dict[str, str]:
    given = config.given()
    return {key: given[key] for key in _SUBSCRIPTIONS if given.get(key, "").strip()}


def _check(task_configs: Sequence[Mapping[str, str]]) -> None:
    """Refuse here, by its place, what nobody could read after the pipe."""
    for number, config in enumerate(task_configs):
        if not isinstance(config, Mapping):
            raise ConnectError(
                f"The configuration of task {number} is of type {_type(config)}; return a dict of texts"
            )
        for key, value in config.items():
            wrong = key if not isinstance(key, str) else value
            if not (isinstance(wrong, str) or (wrong is None and isinstance(key, str))):
                what = "The key" if wrong is key else "The value of"
                found = f"{what} {key} in the configuration of task {number} is of type {_type(wrong)}"
                raise ConnectError(f"{found}; make it text with str(...)")
            _check_characters(number, key, value)


def _check_characters(number: int, key: str, value: str | None) -> None:
    for text, where in ((key, "a key"), (value or "", f"a value of {key!a}")):
        try:
            text.encode()
        except UnicodeEncodeError:
            what = f"The configuration of task {number} has {where} that UTF-8 cannot hold"
            fix = (
                "half of a surrogate pair, or bytes of a file's name (os.fsdecode): write it in another form"
            )
            raise ConnectError(f"{what}, {fix}") from None


def _type(value: object) -> str:
    return type(value).__qualname__
