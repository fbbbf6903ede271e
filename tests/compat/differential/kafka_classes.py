"""A JVM with Kafka Connect's own classes, for the differential tests, and many questions to them in one call.

Of the oracle a class made in the JVM answers lists of questions: Javassist, which comes with Connect's
jars, compiles it, so that no JDK is needed. Its compiler knows Java without generics, lambdas and boxing,
and methods only after their declaration: `oracle.java` is written so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import find_java
from py4j import java_gateway
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import get_return_value


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

    def _new(self, name: str) -> Any:
        loaded = self._jvm.java.lang.Class.forName(name)
        return self._jvm.org.apache.kafka.common.utils.Utils.newInstance(loaded)

    def _map(self, config: dict[str, str]) -> Any:
        made = self._jvm.java.util.HashMap()
        for key, value in config.items():
            made.put(key, value)
        return made


def _pyspark() -> ModuleSpec:
    found = find_spec("pyspark")
    assert found is not None
    return found


Question = dict[str, Any]
Answer = dict[str, Any]
_SOURCE = Path(__file__).parent / "oracle.java"
#: The new class lives beside this one.
_NEIGHBOUR = "py4j.GatewayServer"


class Oracle:
    """Answers of Java's and Kafka Connect's classes; `oracle.java` knows the questions."""

    def __init__(self, jvm: Any) -> None:
        """Compile the class in a JVM that has Connect's jars."""
        made = jvm.javassist.ClassPool(True).makeClass("py4j.Oracle")
        for method in _SOURCE.read_text("utf-8").strip().split("\n\n"):
            made.addMethod(jvm.javassist.CtMethod.make(method, made))
        made.toClass(jvm.java.lang.Class.forName(_NEIGHBOUR))
        self._answers = jvm.py4j.Oracle.answers

    def ask(self, question: str, details: Sequence[Question]) -> list[Answer]:
        """Return the answers to one kind of question."""
        found: list[Answer] = json.loads(
            self._answers(json.dumps([{"question": question, **each} for each in details]))
        )
        return found


def differing(questions: Sequence[Question], java: Sequence[Any], ours: Sequence[Any]) -> str:
    """Return the first questions that were answered differently, one a line; empty when all answers agree."""
    found = [
        f"{question}\n    Java:    {theirs}\n    Copycat: {own}"
        for question, theirs, own in zip(questions, java, ours, strict=True)
        if theirs != own
    ]
    return "\n".join(found[:5]) + (f"\n{len(found)} of {len(questions)}" if found else "")
