"""Values that stay in the JVM, so that none loses its Java class on its way, and the same values on our side.

Through py4j a top-level `Byte` would come back as an `Integer`. So a value is made as the item of a list,
and methods are called with lists of arguments, by method handles.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from copycat_connect.data import ConnectValue, Schema, SchemaBuilderError, SchemaType, Struct
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32
from copycat_connect.errors import DataError
from copycat_json.converter import JsonConverter
from py4j.protocol import Py4JJavaError

from tests.compat.differential.kafka_classes import KafkaClasses

#: Name and text of an error and of its causes, the outermost first.
Chain = list[tuple[str, str]]
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


@dataclass(frozen=True, slots=True)
class JavaValue:
    """A value in the JVM, with its schema."""

    schema: Any
    """The Java schema, or None."""
    items: Any
    """A Java list that holds the value alone."""


class JavaValues:
    """Calls converters with values that are not seen from here."""

    def __init__(self, classes: KafkaClasses) -> None:
        """Prepare the calls."""
        self._classes = classes
        jvm = classes.jvm
        self.jvm = jvm
        self._lookup = jvm.java.lang.invoke.MethodHandles.publicLookup()
        self._class = jvm.java.lang.Class.forName
        self._string, self._object = self._class("java.lang.String"), self._class("java.lang.Object")
        self._schema = self._class("org.apache.kafka.connect.data.Schema")
        self._envelopes = classes.converter(JSON_CONVERTER, {})
        self._exact = classes.converter(JSON_CONVERTER, {"decimal.format": "NUMERIC"})
        self._write_exactly = self.writer(self._exact)
        value = self._method(self._class("org.apache.kafka.connect.data.SchemaAndValue"), "value")
        function = self._class("java.util.function.Function")
        self._value_of = jvm.java.lang.invoke.MethodHandleProxies.asInterfaceInstance(function, value)
        self._to_list = jvm.java.util.stream.Collectors.toList()
        projector = self._class("org.apache.kafka.connect.data.SchemaProjector")
        project = self._method(projector, "project", self._schema, self._object, self._schema)
        listed = self._method(self._class("java.util.Collections"), "singletonList", self._object)
        self._project = jvm.java.lang.invoke.MethodHandles.filterReturnValue(project, listed)

    def value(self, schema: dict[str, Any] | None, payload: Any) -> JavaValue:
        """Make a value out of JsonConverter's schema and payload."""
        outer = None if schema is None else {"type": "array", "items": schema}
        data = json.dumps({"schema": outer, "payload": [payload]}).encode()
        found = self._envelopes.toConnectData("t", data)
        return JavaValue(None if schema is None else found.schema().valueSchema(), found.value())

    def schema(self, node: dict[str, Any] | None) -> Any:
        """Make a schema out of JsonConverter's."""
        if node is None:
            return None
        outer = {"type": "array", "items": node}
        data = json.dumps({"schema": outer, "payload": []}).encode()
        return self._envelopes.toConnectData("t", data).schema().valueSchema()

    def writer(self, converter: Any) -> Any:
        """Return a handle that calls the converter's `fromConnectData`."""
        return self._bound(converter, "fromConnectData", self._string, self._schema, self._object)

    def header_writer(self, converter: Any) -> Any:
        """Return a handle that calls the converter's `fromConnectHeader`."""
        names = (self._string, self._string)
        return self._bound(converter, "fromConnectHeader", *names, self._schema, self._object)

    def written(self, write: Any, schema: Any, value: JavaValue, *names: str) -> dict[str, Any]:
        """Write a value by a handle; a failure is its chain."""
        try:
            out = write.invokeWithArguments(self._arguments(schema, value.items, names or ("t",)))
        except Py4JJavaError as error:
            return {"error": java_chain_of(error)}
        return {"out": None if out is None else bytes(out)}

    def read(self, converter: Any, data: bytes | None) -> dict[str, Any]:
        """Read bytes; the answer is what JsonConverter writes of the value, or the failure's chain."""
        try:
            found = converter.toConnectData("t", data)
        except Py4JJavaError as error:
            return {"error": java_chain_of(error)}
        return {"found": self.described(found)}

    def read_header(self, converter: Any, data: bytes | None) -> dict[str, Any]:
        """Read a header's bytes, likewise."""
        try:
            found = converter.toConnectHeader("t", "h", data)
        except Py4JJavaError as error:
            return {"error": java_chain_of(error)}
        return {"found": self.described(found)}

    def described(self, found: Any) -> Any:
        """Return a SchemaAndValue as JsonConverter writes it; a failure of that is its text."""
        if found is None:  # SimpleHeaderConverter's answer to "null"
            return None
        once = self.jvm.java.util.Collections.singletonList(found)
        items = once.stream().map(self._value_of).collect(self._to_list)
        return self._description(found.schema(), items)

    def projected(self, source: Any, value: JavaValue, target: Any) -> dict[str, Any]:
        """Project a value; the answer is the value as JsonConverter writes it, or the failure's chain."""
        arguments = self.jvm.java.util.ArrayList()
        arguments.add(source)
        arguments.addAll(value.items)
        arguments.add(target)
        try:
            found = self._project.invokeWithArguments(arguments)
        except Py4JJavaError as error:
            return {"error": java_chain_of(error)}
        return {"found": self._description(target, found)}

    def _description(self, schema: Any, items: Any) -> Any:
        try:
            data = self._write_exactly.invokeWithArguments(self._arguments(schema, items, ("t",)))
        except Py4JJavaError as error:
            return "!!" + str(java_chain_of(error)[0][1])
        return None if data is None else json.loads(bytes(data))

    def _arguments(self, schema: Any, items: Any, names: tuple[str, ...]) -> Any:
        arguments = self.jvm.java.util.ArrayList()
        for name in names:
            arguments.add(name)
        arguments.add(schema)
        arguments.addAll(items)
        return arguments

    def _bound(self, target: Any, name: str, *parameters: Any) -> Any:
        return self._method(target.getClass(), name, *parameters).bindTo(target)

    def _method(self, of: Any, name: str, *parameters: Any) -> Any:
        return self._lookup.unreflect(of.getMethod(name, self._classes.class_array(*parameters)))


def java_chain_of(error: Py4JJavaError) -> Chain:
    """Return class and text of a Java error and of its causes."""
    found = []
    left = error.java_exception
    while left is not None:
        found.append((str(left.getClass().getSimpleName()), str(left.getMessage())))
        left = left.getCause()
    return found


def _converter(**config: str) -> JsonConverter:
    converter = JsonConverter()
    converter.configure({name.replace("_", "."): value for name, value in config.items()})
    return converter


_NARROW: dict[SchemaType, type] = {
    SchemaType.INT8: Int8,
    SchemaType.INT16: Int16,
    SchemaType.INT32: Int32,
    SchemaType.FLOAT32: Float32,
}
_ENVELOPES = _converter()
_EXACT = _converter(decimal_format="NUMERIC")


def made(schema: dict[str, Any] | None, payload: Any) -> tuple[Schema | None, ConnectValue]:
    """Make a value out of JsonConverter's schema and payload; no payload makes no value."""
    outer = None if schema is None else {"type": "array", "items": schema}
    items = [] if payload is None and schema is not None and not schema.get("optional") else [payload]
    data = json.dumps({"schema": outer, "payload": items}).encode()
    found = _ENVELOPES.to_connect("t", None, data)
    kind = None if found.schema is None else found.schema.value_schema
    return kind, found.value[0] if items else None


def with_width(schema: Schema | None, value: ConnectValue) -> ConnectValue:
    """Give numbers the Java class that their schema says, so that they keep it under another schema."""
    if schema is None or value is None:
        return value
    if schema.type is SchemaType.ARRAY:
        return [with_width(schema.value_schema, item) for item in value]
    if schema.type is SchemaType.STRUCT:
        items = zip(schema.fields, value.values, strict=True)
        return Struct.of_valid(schema, [with_width(field.schema, item) for field, item in items])
    if schema.type is SchemaType.MAP:
        return {
            with_width(schema.key_schema, key): with_width(schema.value_schema, item)
            for key, item in value.items()
        }
    narrow = _NARROW.get(schema.type)
    return narrow(value) if narrow and type(value) in (int, float) else value


def described(schema: Schema | None, value: ConnectValue) -> Any:
    """Return schema and value as JsonConverter writes them; a failure of that is its text."""
    try:
        data = _EXACT.from_connect("t", None, schema, value)
    except DataError as error:
        return f"!!{error.message}"
    return None if data is None else json.loads(data)


def chain_of(error: BaseException | None, **classes: type[DataError]) -> Chain:
    """Return class and text of an error and of its causes, classes by their names in Java."""
    known = {"DataException": DataError, "SchemaBuilderException": SchemaBuilderError, **classes}
    names = {each: name for name, each in known.items()}
    found = []
    while error is not None:
        found.append((names.get(type(error), type(error).__name__), str(error)))
        error = error.__cause__
    return found
