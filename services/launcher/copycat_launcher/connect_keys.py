"""Keys that a worker file written for Apache Kafka Connect 4.3 may have, whether Copycat heeds them or not.

Their sources are Kafka's `WorkerConfig`, `DistributedConfig`, `StandaloneConfig`, `CommonClientConfigs`,
`SslConfigs`, `SaslConfigs` and `TopicConfig`.
"""

from __future__ import annotations

from typing import Final

WORKER: Final = frozenset(
    [
        "bootstrap.servers",
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
SSL: Final = frozenset(
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
SASL: Final = frozenset(
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
TOPIC: Final = frozenset(
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
        "max.compaction.lag.ms",
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
        "remote.log.copy.disable",
        "remote.log.delete.on.disable",
        "partitions",
        "replication.factor",
        "topic",
    ]
)
INTERNAL_TOPICS: Final = ("config", "offset", "status", "assignment")
#: What follows is somebody else's: a client's, a plugin's, Spark's.
FREE_PREFIXES: Final = (
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
HTTPS_PREFIXES: Final = ("listeners.https.", "admin.listeners.https.")
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
    WORKER
    | SSL
    | SASL
    | {f"{topic}.storage.{key}" for topic in INTERNAL_TOPICS for key in TOPIC}
    | {f"{prefix}{key}" for prefix in HTTPS_PREFIXES for key in SSL}
    | SERVICES_SSL
)
