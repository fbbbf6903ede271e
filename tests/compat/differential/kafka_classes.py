"""A JVM with Kafka Connect's own classes, for the differential tests."""

from __future__ import annotations

import os
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
