"""Spark: one context per process, up before any gRPC server or channel, and a session where SQL is wanted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from copycat_executor.spark.archive import archive_file, kind_for, make_options, use_options
from copycat_executor.spark.command import Java, command_line
from copycat_executor.spark.conf import python_of_hosts, session_conf
from copycat_executor.spark.jvm import STOP_SECONDS, SparkJvm
from copycat_executor.spark.scratch import ScratchFolder
from copycat_executor.spark.worker import idle

ARCHIVE_SECONDS = 120.0


class Spark:
    """A context and the JVM under it."""

    def __init__(self, jvm: SparkJvm, context: SparkContext) -> None:
        self.jvm = jvm
        self.context = context

    @cached_property
    def session(self) -> SparkSession:
        """The session for DataFrames, made when it is first asked for: hosts need none."""
        return SparkSession(self.context)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """End all jobs, hosts among them, and the JVM; it by force when it takes longer than `seconds`."""
        try:
            self.context.stop()
        except (PySparkException, Py4JError, OSError):
            pass  # the JVM is gone already
        finally:
            # PySpark keeps the gateway for ever, and the context too when its JVM was killed; the next
            # session of this process has another JVM.
            SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
            SparkContext._active_spark_context = None  # noqa: SLF001
            self.jvm.stop(seconds)


def start_spark(properties: Mapping[str, str]) -> Spark:
    """Start the JVM and the context; blocks for some seconds.

    Raises:
        ConfigError: There is no Java.
        SparkLostError: The JVM did not come up.
    """
    java = Java.find(properties)
    return _start(java, session_conf(properties), use_options(java, properties))


def make_archive(properties: Mapping[str, str]) -> Path | None:
    """Make the class archive, unless it is there, by a run of what a host's start needs; returns its file.

    Returns None when this Java can make none.
    """
    java = Java.find(properties)
    kind = kind_for(java)
    file = archive_file(java, properties, kind)
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            fresh = Path(folder) / file.name
            spark = _start(java, session_conf(properties), make_options(kind, fresh), quiet=True)
            spark.context.parallelize([""], 1).mapPartitions(idle).collect()
            spark.stop(ARCHIVE_SECONDS)
            if fresh.is_file():
                fresh.replace(file)  # at once: another executor may be starting
    return file if file.is_file() else None


def _start(java: Java, conf: Mapping[str, str], options: tuple[str, ...], *, quiet: bool = False) -> Spark:
    scratch = ScratchFolder()
    temporary = f"-Djava.io.tmpdir={scratch.path}"  # spark.local.dir is there too unless it is set
    jvm = SparkJvm(command_line(java, conf, (*options, temporary)), scratch, quiet=quiet)
    # PySpark takes the gateway from the environment and nowhere else.
    gateway = {"PYSPARK_GATEWAY_PORT": str(jvm.port), "PYSPARK_GATEWAY_SECRET": jvm.secret}
    os.environ.update(gateway)
    try:
        context = SparkContext(conf=SparkConf(loadDefaults=False).setAll(list(conf.items())))
    finally:
        for name in gateway:
            del os.environ[name]
    context.pythonExec = python_of_hosts(conf, os.environ)
    # PySpark prints a stack trace when the JVM ends; whoever watches the JVM says it in a line.
    context._accumulatorServer.handle_error = _say_nothing  # type: ignore[method-assign, assignment]  # noqa: SLF001
    return Spark(jvm, context)


def _say_nothing(*_: object) -> None:
    """Take an error that somebody else reports."""
