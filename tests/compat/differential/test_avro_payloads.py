"""Avro payloads beside Apache Avro's own Java library: it reads what we write, and we read what it writes.

Confluent's AvroConverter itself cannot be had from public registries of jars, so the bytes are compared.
"""

from __future__ import annotations

from typing import Any

import pytest
from copycat_avro.options import AvroOptions
from copycat_connect.data import SchemaBuilder, Struct
from copycat_registry.avro.converter import AvroFormat
from hypothesis import HealthCheck, Phase, given, settings
from py4j.protocol import Py4JJavaError

from tests.compat.differential.kafka_classes import KafkaClasses
from tests.unit.plugins.registry.connect_data import Sample, samples

pytestmark = pytest.mark.long


class JavaAvro:
    """Reads payloads into Java's generic records and writes those again."""

    def __init__(self, classes: KafkaClasses) -> None:
        """Prepare the factories."""
        self._jvm: Any = classes.jvm
        self._avro = self._jvm.org.apache.avro

    def written_again(self, text: str, data: bytes) -> bytes:
        """Return the payload that Java writes of what it read."""
        schema = getattr(self._avro, "Schema$Parser")().parse(text)
        decoder = self._avro.io.DecoderFactory.get().binaryDecoder(data, None)
        found = self._avro.generic.GenericDatumReader(schema).read(None, decoder)
        assert decoder.isEnd()
        out = self._jvm.java.io.ByteArrayOutputStream()
        encoder = self._avro.io.EncoderFactory.get().binaryEncoder(out, None)
        self._avro.generic.GenericDatumWriter(schema).write(found, encoder)
        encoder.flush()
        return bytes(out.toByteArray())


def test_avro_payloads_are_read_and_written_alike_by_avros_java_library(kafka_classes: KafkaClasses) -> None:
    java, avro = JavaAvro(kafka_classes), AvroFormat(AvroOptions.parse({}))

    @settings(
        max_examples=300,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(samples())
    def compare(sample: Sample) -> None:
        # In a record, since a number alone would lose its Java class on its way through Python.
        outer = SchemaBuilder.struct().name("Outer").field("v", sample.schema).build()
        value = Struct.of_valid(outer, [sample.value])
        text = avro.describe(outer).text
        data = avro.encoder(outer, None)(value)
        again = java.written_again(text.text, data)
        assert len(again) == len(data), sample  # Java's maps have another order
        assert avro.decoder(text, None, None)[1](again) == value

    try:
        compare()
    except Py4JJavaError as error:
        raise AssertionError(str(error.java_exception)) from error
