"""Kafka Connect's own classes, called in a JVM: the oracle of the differential tests.

A top-level primitive would lose its Java class on the way through Python (a `Byte` comes back as an
`Integer`). So every value travels to the JVM and back as one field of an envelope: Kafka's ExtractField takes
it out on the other side and HoistField puts the answer in again.
"""

from __future__ import annotations

import json
import os
from decimal import Decimal
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from copycat_embedded.jars import ensure_jars
from copycat_embedded.java import find_java
from py4j import java_gateway
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError, get_return_value

FIELD = "v"
Case = dict[str, Any]


class KafkaClasses:
    """One JVM with Connect's jars; not for several threads."""

    def __init__(self) -> None:
        """Start it; it ends with this process."""
        # PySpark, once it ran in this process, reads every error of py4j as one of its own JVM.
        self._reader = java_gateway.get_return_value
        java_gateway.get_return_value = get_return_value
        # Confluent's converters are in no public registry of jars; Avro's own library comes with PySpark.
        avro = Path(str(_pyspark().origin)).parent.glob("jars/avro-1.*.jar")
        jars = [*ensure_jars(("broker", "connect")), *avro]
        port, secret = launch_gateway(
            classpath=os.pathsep.join(map(str, jars)),
            java_path=str(find_java().executable),
            javaopts=["-Xmx256m", "-XX:+UseSerialGC", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8"],
            die_on_exit=True,
            enable_auth=True,
            redirect_stderr=None,
        )[:2]
        self._gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret))
        self._jvm: Any = self._gateway.jvm
        self._connect = self._jvm.org.apache.kafka.connect
        self._envelopes = self.converter("org.apache.kafka.connect.json.JsonConverter", {})
        transforms = "org.apache.kafka.connect.transforms"
        self._steps = {
            (step, part): self._made(f"{transforms}.{step}${part}", {"field": FIELD} | more)
            for step, more in (("HoistField", {}), ("ExtractField", {"replace.null.with.default": "false"}))
            for part in ("Key", "Value")
        }

    def close(self) -> None:
        """End the JVM."""
        self._gateway.shutdown()
        java_gateway.get_return_value = self._reader

    @property
    def jvm(self) -> Any:
        """Packages and classes of the JVM."""
        return self._jvm

    def class_array(self, *classes: Any) -> Any:
        """Make an array of classes, as reflection takes them."""
        array = self._gateway.new_array(self._jvm.java.lang.Class, len(classes))
        for place, each in enumerate(classes):
            array[place] = each
        return array

    def converter(self, name: str, config: dict[str, str]) -> Any:
        """Make a converter."""
        made = self._new(name)
        made.configure(self._map(config), False)
        return made

    def converter_of_headers(self, name: str, config: dict[str, str]) -> Any:
        """Make a header converter."""
        made = self._new(name)
        made.configure(self._map({**config, "converter.type": "header"}))
        return made

    def matches(self, regex: str, text: str) -> bool:
        """Return whether a whole text matches."""
        return bool(self._jvm.java.util.regex.Pattern.matches(regex, text))

    def parsed(self, text: str) -> tuple[list[str | None] | None, str | None]:
        """Return what Values infers from a text: type and name of the schema, and the value as text again."""
        found = self._connect.data.Values.parseString(text)
        if found is None:
            return None, None
        schema = found.schema()
        kind = None if schema is None else [schema.type().getName(), schema.name()]
        return kind, self._text(schema, found.value())

    def answer(self, case: Case) -> Case:
        """Put a record through a transformation or a predicate; a failure is its message."""
        try:
            record = self._record(case)
            plugin = self._made(case["class"], case["config"])
            if ".predicates." in case["class"]:
                return {"test": plugin.test(record)}
            result = plugin.apply(record)
            return {"dropped": True} if result is None else self._described(result)
        except Py4JJavaError as error:
            return {"error": _message(error)}

    def _new(self, name: str) -> Any:
        loaded = self._jvm.java.lang.Class.forName(name)
        return self._jvm.org.apache.kafka.common.utils.Utils.newInstance(loaded)

    def _made(self, name: str, config: dict[str, str]) -> Any:
        made = self._new(name)
        made.configure(self._map(config))
        return made

    def _map(self, config: dict[str, str]) -> Any:
        made = self._jvm.java.util.HashMap()
        for key, value in config.items():
            made.put(key, value)
        return made

    def _record(self, case: Case) -> Any:
        key, value = (self._envelopes.toConnectData("t", enveloped(case[part])) for part in ("key", "value"))
        headers = self._connect.header.ConnectHeaders()
        for name, text in case["headers"]:
            headers.addString(name, text)
        created = self._jvm.org.apache.kafka.common.record.TimestampType.CREATE_TIME
        record = self._connect.sink.SinkRecord(
            case["topic"], 3, key.schema(), key.value(), value.schema(), value.value(), 42, case["ts"],
            created, headers,
        )  # fmt: skip
        for part in ("Key", "Value"):
            record = self._steps["ExtractField", part].apply(record)
        return record

    def _described(self, record: Any) -> Case:
        headers = self._headers(record.headers().iterator())
        return {
            "topic": record.topic(),
            "key": self._side(record, "Key"),
            "value": self._side(record, "Value"),
            "headers": headers,
        }

    def _side(self, record: Any, part: str) -> Any:
        try:
            hoisted = self._steps["HoistField", part].apply(record)
        except Py4JJavaError as error:  # a value that its own schema does not allow
            return f"!!{_message(error)}"
        if part == "Key":
            return unwrapped(self._json(hoisted.keySchema(), hoisted.key()))
        return unwrapped(self._json(hoisted.valueSchema(), hoisted.value()))

    def _text(self, schema: Any, value: Any) -> str | None:
        if isinstance(value, Decimal) or (
            schema is not None and schema.type().getName() in ("int8", "int16")
        ):
            return str(value)  # its Java class or its scale is lost by now
        text: str | None = self._connect.data.Values.convertToString(schema, value)
        return text

    def _headers(self, left: Any) -> list[Any]:
        found = []
        while left.hasNext():
            header = left.next()
            schema, value = header.schema(), header.value()
            if isinstance(value, int | float) and schema is not None:
                # Its Java class is lost by now; its schema says what it was.
                told = json.loads(self._envelopes.asJsonSchema(schema).toString())
                text = {"schema": told, "payload": self._exact(told["type"], value)}
            else:
                text = self._json(schema, value)
            found.append([header.key(), text])
        return found

    def _exact(self, kind: str, value: float) -> float:
        return float(self._jvm.java.lang.Float.toString(value)) if kind == "float" else value

    def _json(self, schema: Any, value: Any) -> Any:
        try:
            data = self._envelopes.fromConnectData("t", schema, value)
        except Py4JJavaError as error:
            return f"!!{_message(error)}"
        return None if data is None else json.loads(data)


def _pyspark() -> ModuleSpec:
    found = find_spec("pyspark")
    assert found is not None
    return found


def _message(error: Py4JJavaError) -> str:
    message: str | None = error.java_exception.getMessage()
    return message or str(error.java_exception.getClass().getSimpleName())


def comparable(answer: Case) -> Case:
    """Leave out how a value that breaks its own schema is told: the envelope has Java find it elsewhere."""
    parts = {part: "!!" for part in ("key", "value") if str(answer.get(part)).startswith("!!")}
    return answer | parts


def enveloped(text: str | None) -> bytes:
    """Make a value with or without schema one field of an envelope."""
    found = {"schema": None, "payload": None} if text is None else json.loads(text)
    schema = found["schema"]
    outer = None if schema is None else {"type": "struct", "fields": [{**schema, "field": FIELD}]}
    return json.dumps({"schema": outer, "payload": {FIELD: found["payload"]}}).encode()


def unwrapped(found: Any) -> Any:
    """Take a value out of its envelope again; nothing under no schema is a tombstone."""
    if not isinstance(found, dict):
        return found
    schema, payload = found["schema"], found["payload"][FIELD]
    if schema is None:
        return None if payload is None else {"schema": None, "payload": payload}
    (inner,) = schema["fields"]
    del inner["field"]
    return {"schema": inner, "payload": payload}
