"""The broker's class path lacks only what it never loads."""

from __future__ import annotations

from copycat_embedded.jars import ensure_jars

from tests.integration.embedded.class_references import missing_packages

#: What is left out on purpose, by the beginning of its package: who refers to it, and why that never runs.
ABSENT = {
    "com.conversantmedia.util.concurrent": "log4j: asynchronous appenders we do not configure",
    "com.fasterxml.jackson.dataformat.xml": "log4j: layouts in XML",
    "com.fasterxml.jackson.dataformat.yaml": "log4j: YAML files; Kafka: the start of its Docker image",
    "com.github.benmanes.caffeine.cache": "Kafka: the index cache of tiered storage, which is off",
    "com.lmax.disruptor": "log4j: asynchronous loggers",
    "io.grpc": "Kafka: generated stubs of OpenTelemetry that nothing calls",
    "org.apache.commons.beanutils": "commons-validator: forms; Kafka asks only whether a text is an address",
    "org.apache.commons.collections": "commons-validator: forms",
    "org.apache.commons.compress": "log4j: rolled files, compressed",
    "org.apache.commons.csv": "log4j: layouts in CSV",
    "org.apache.commons.digester": "commons-validator: forms",
    "org.apache.commons.io": "commons-net in kafka-clients: protocols; it only reads ranges of addresses",
    "org.apache.commons.logging": "commons-validator: forms",
    "org.codehaus.stax2": "log4j: layouts in XML",
    "org.jctools.queues": "log4j: asynchronous appenders",
    "org.osgi.framework": "log4j and others: life in an OSGi container",
    "org.zeromq": "log4j: an appender to ZeroMQ",
    "scala.reflect": "scala-library and scala-logging: macros of the compiler",
}


def test_every_package_that_a_class_of_the_broker_refers_to_is_there_or_left_out_on_purpose() -> None:
    missing = missing_packages(ensure_jars(("broker",)))

    unexplained = {
        package: sorted(users)[:5]
        for package, users in missing.items()
        if not any(package == absent or package.startswith(f"{absent}.") for absent in ABSENT)
    }
    needless = [absent for absent in ABSENT if not any(package.startswith(absent) for package in missing)]

    assert unexplained == {}
    assert needless == []
