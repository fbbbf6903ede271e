"""Worker properties that nobody reads: a warning for each, with the name that was probably meant.

A file written for Apache Kafka Connect 4.3 may have all of its keys, whether Copycat heeds them or not.
They are listed here; their sources are Kafka's `WorkerConfig`, `DistributedConfig`, `StandaloneConfig`,
`CommonClientConfigs`, `SslConfigs`, `SaslConfigs` and `TopicConfig`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from copycat_cli.advice import similar
from copycat_connect.config import ConfigDef, ConfigKey
from copycat_connect.config.settings import Settings

from copycat_launcher.roles import ROLES

_WORKER: Final = frozenset(
    [
        "bootstrap.servers",
        "bootstrap.resolve.timeout.ms",
        "client.dns.lookup",
        "client.id",
        "group.id",
        "key.converter",
        "value.converter",
        "header.converter",
        "task.shutdown.graceful.timeout.ms",
        "offset.flush.interval.ms",
        "offset.flush.timeout.ms",
        "plugin.path",
        "plugin.discovery",
        "metrics.num.samples",
        "metrics.sample.window.ms",
        "metrics.recording.level",
        "metric.reporters",
        "auto.include.jmx.reporter",
        "config.providers",
        "connector.client.config.override.policy",
        "connector.client.config.override.allowlist",
        "topic.creation.enable",
        "topic.tracking.enable",
        "topic.tracking.allow.reset",
        "response.http.headers.config",
        "listeners",
        "admin.listeners",
        "rest.advertised.host.name",
        "rest.advertised.port",
        "rest.advertised.listener",
        "rest.host.name",
        "rest.port",
        "rest.extension.classes",
        "access.control.allow.origin",
        "access.control.allow.methods",
        "internal.key.converter",
        "internal.value.converter",
        "offset.storage.file.filename",
        "config.storage.topic",
        "config.storage.replication.factor",
        "offset.storage.topic",
        "offset.storage.partitions",
        "offset.storage.replication.factor",
        "status.storage.topic",
        "status.storage.partitions",
        "status.storage.replication.factor",
        "internal.topics.automatic.creation.enable",
        "exactly.once.source.support",
        "connect.protocol",
        "session.timeout.ms",
        "heartbeat.interval.ms",
        "rebalance.timeout.ms",
        "worker.sync.timeout.ms",
        "worker.unsync.backoff.ms",
        "scheduled.rebalance.max.delay.ms",
        "inter.worker.key.generation.algorithm",
        "inter.worker.key.size",
        "inter.worker.key.ttl.ms",
        "inter.worker.signature.algorithm",
        "inter.worker.verification.algorithms",
        "metadata.cluster.check.enable",
        "metadata.max.age.ms",
        "metadata.recovery.strategy",
        "metadata.recovery.rebootstrap.trigger.ms",
        "send.buffer.bytes",
        "receive.buffer.bytes",
        "reconnect.backoff.ms",
        "reconnect.backoff.max.ms",
        "socket.connection.setup.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
        "retries",
        "retry.backoff.ms",
        "retry.backoff.max.ms",
        "request.timeout.ms",
        "default.api.timeout.ms",
        "connections.max.idle.ms",
        "enable.metrics.push",
        "security.protocol",
        "security.providers",
        "rest.basic.auth.file",
    ]
)
_SSL: Final = frozenset(
    [
        "ssl.protocol",
        "ssl.provider",
        "ssl.cipher.suites",
        "ssl.enabled.protocols",
        "ssl.client.auth",
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.key.password",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.certificates",
        "ssl.keymanager.algorithm",
        "ssl.trustmanager.algorithm",
        "ssl.endpoint.identification.algorithm",
        "ssl.secure.random.implementation",
        "ssl.engine.factory.class",
    ]
)
_SASL: Final = frozenset(
    [
        "sasl.mechanism",
        "sasl.jaas.config",
        "sasl.username",
        "sasl.password",
        "sasl.client.callback.handler.class",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.login.connect.timeout.ms",
        "sasl.login.read.timeout.ms",
        "sasl.login.retry.backoff.ms",
        "sasl.login.retry.backoff.max.ms",
        "sasl.login.refresh.window.factor",
        "sasl.login.refresh.window.jitter",
        "sasl.login.refresh.min.period.seconds",
        "sasl.login.refresh.buffer.seconds",
        "sasl.kerberos.service.name",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.ticket.renew.window.factor",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.min.time.before.relogin",
    ]
)
#: What may follow `config.storage.` and the like: configs of the internal topic.
_TOPIC: Final = frozenset(
    [
        "cleanup.policy",
        "compression.type",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.zstd.level",
        "delete.retention.ms",
        "file.delete.delay.ms",
        "flush.messages",
        "flush.ms",
        "index.interval.bytes",
        "errors.deadletterqueue.group.enable",
        "max.compaction.lag.ms",
        "max.decompressed.message.bytes",
        "max.message.bytes",
        "message.timestamp.type",
        "message.timestamp.before.max.ms",
        "message.timestamp.after.max.ms",
        "min.cleanable.dirty.ratio",
        "min.compaction.lag.ms",
        "min.insync.replicas",
        "preallocate",
        "remote.storage.enable",
        "local.retention.ms",
        "local.retention.bytes",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.index.bytes",
        "segment.jitter.ms",
        "segment.ms",
        "unclean.leader.election.enable",
        "follower.replication.throttled.replicas",
        "leader.replication.throttled.replicas",
        "remote.copy.lag.bytes",
        "remote.copy.lag.ms",
        "remote.log.copy.disable",
        "remote.log.delete.on.disable",
        "partitions",
        "replication.factor",
        "topic",
    ]
)
_INTERNAL_TOPICS: Final = ("config", "offset", "status", "assignment")
#: What follows is somebody else's: a client's, a plugin's, Spark's.
_FREE_PREFIXES: Final = (
    "producer.",
    "consumer.",
    "admin.",
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "internal.key.converter.",
    "internal.value.converter.",
    "config.providers.",
    "metrics.context.",
    "metric.reporters.",
    "sasl.oauthbearer.",
    "spark.",
)
#: Under a free prefix, but ours all the same.
_HTTPS_PREFIXES: Final = ("listeners.https.", "admin.listeners.https.")
#: Of gRPC between the services: any other key of that prefix stops them.
SERVICES_SSL: Final = frozenset(
    [
        "services.ssl.client.auth",
        "services.ssl.key.password",
        "services.ssl.keystore.certificate.chain",
        "services.ssl.keystore.key",
        "services.ssl.keystore.location",
        "services.ssl.keystore.password",
        "services.ssl.keystore.type",
        "services.ssl.server.name",
        "services.ssl.truststore.certificates",
        "services.ssl.truststore.location",
        "services.ssl.truststore.password",
        "services.ssl.truststore.type",
    ]
)
EVERYTHING: Final = (
    _WORKER
    | _SSL
    | _SASL
    | {f"{topic}.storage.{key}" for topic in _INTERNAL_TOPICS for key in _TOPIC}
    | {f"{prefix}{key}" for prefix in _HTTPS_PREFIXES for key in _SSL}
    | SERVICES_SSL
)


#: How like a known name a key must be to be taken for it.
MISSPELT_SIMILARITY = 0.8
EXTENSIONS = "rest.extension.classes"
#: Modules that declare keys, the quick to import first; they are looked at until all keys are known.
DECLARING = (
    "copycat_launcher.worker_properties",
    "copycat_connect.config.worker_keys",
    "copycat_telemetry.metrics.export",
    "copycat_eventlog.past.settings",
    "copycat_eventlog.worker_properties",
    *(f"{role.module}.settings" for role in ROLES),
)


def warnings_about(properties: Mapping[str, str]) -> list[str]:
    """Return a sentence for each key that is no worker property; never a value.

    With REST extensions, which read keys of their own, only keys that are like a known one are named.
    """
    return [*_warnings_about_clients(properties), *_warnings_about_worker(properties)]


def _warnings_about_clients(properties: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each setting of a client that is like one of Kafka's; others may be of plugins."""
    for kind in ("producer", "consumer", "admin"):
        prefix = f"{kind}."
        given = [key for key in properties if key.startswith(prefix) and key not in EVERYTHING]
        unknown = {key: name for key in given if (name := key.removeprefix(prefix)) not in EVERYTHING}
        if not unknown:
            continue
        clients = importlib.import_module("copycat_connect.validation.parts")
        known = clients.client_definition(clients.Client[kind.upper()]).keys
        for key, name in unknown.items():
            meant = similar(name, known, closeness=MISSPELT_SIMILARITY)
            if meant and name not in known:
                yield (
                    f"{key} is not a setting of a Kafka client and has no effect; "
                    f"did you mean {prefix}{meant[0]}?"
                )


def _warnings_about_worker(properties: Mapping[str, str]) -> list[str]:
    known = EVERYTHING | {f"{role.name}.addresses" for role in ROLES}
    unknown = [key for key in properties if not (key in known or _is_free(key))]
    for module in DECLARING:
        if not unknown:
            return []
        known |= {key.name for key in declared_keys(vars(importlib.import_module(module)).values())}
        unknown = [key for key in unknown if key not in known]
    extended = bool(properties.get(EXTENSIONS, "").strip())
    return [text for key in unknown if (text := _warning(key, known, only_alike=extended))]


def _is_free(key: str) -> bool:
    return key.startswith(_FREE_PREFIXES) and not key.startswith(_HTTPS_PREFIXES)


def declared_keys(values: Iterable[object]) -> Iterator[ConfigKey]:
    """Yield the keys among what a module defines."""
    for value in values:
        if isinstance(value, ConfigDef):
            yield from value.keys.values()
        elif isinstance(value, ConfigKey):
            yield value
        elif isinstance(value, type) and issubclass(value, Settings) and value is not Settings:
            yield from value.config_def().keys.values()


def _warning(key: str, known: Iterable[str], *, only_alike: bool) -> str:
    meant = similar(key, known, closeness=MISSPELT_SIMILARITY)
    if meant:
        return f"{key} is not a worker property and has no effect; did you mean {meant[0]}?"
    return "" if only_alike else f"{key} is not a worker property and has no effect"
