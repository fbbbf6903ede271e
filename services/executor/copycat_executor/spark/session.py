"""Spark: one context per process, up before any gRPC server or channel, and a session where SQL is wanted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, Final

from copycat_connect.java_runtime import Java
from py4j.protocol import INPUT_CONVERTER, Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

from copycat_executor.domain.errors import SparkLostError
from copycat_executor.spark.archive import use_options
from copycat_executor.spark.command import command_line, find_java
from copycat_executor.spark.conf import driver_conf, is_local, python_of_hosts, session_conf
from copycat_executor.spark.jvm import STOP_TIMEOUT_SECONDS, SparkJvm
from copycat_executor.spark.scratch import ScratchFolder

#: Between two looks whether a context has ended under us.
_LOOK_SECONDS: Final = 2.0
#: So long jobs wait for the first executor: a cluster may have to start a machine, or fetch an image.
_NO_EXECUTOR_SECONDS: Final = 300.0


class Spark:
    """A context and the JVM under it."""

    def __init__(self, jvm: SparkJvm, context: SparkContext) -> None:
        self.jvm = jvm
        self.context = context
        self._stopped: Callable[[], None] | None = None

    @cached_property
    def session(self) -> SparkSession:
        """The session for DataFrames, made when it is first asked for: hosts need none."""
        return SparkSession(self.context)

    @cached_property
    def addresses(self) -> tuple[str, str]:
        """The address on which Spark's driver listens, and the one at which its executors reach it."""
        package = self.context._jvm.org.apache.spark.internal.config  # type: ignore[union-attr]
        keys = getattr(getattr(package, "package$"), "MODULE$")
        conf = self._scala.conf()
        return str(conf.get(keys.DRIVER_BIND_ADDRESS())), str(conf.get(keys.DRIVER_HOST_ADDRESS()))

    def when_stopped(self, stopped: Callable[[], None]) -> None:
        """Call `stopped`, from any thread, when the context ends under us or its jobs long get no executor.

        Its cluster has given it up then, or a master that was started anew does not know it.
        """
        self._stopped = stopped
        threading.Thread(target=self._look_on, name="spark-context-watch", daemon=True).start()

    def look(self) -> None:
        """See whether it has ended, before a job that failed is taken for the reason."""
        with suppress(Py4JError, OSError, AttributeError):  # its JVM is gone, which somebody else watches
            if self._stopped is not None and self._scala.isStopped():
                self._stopped()

    def _look_on(self) -> None:
        served = time.monotonic()
        while self._stopped is not None:
            time.sleep(_LOOK_SECONDS)
            self.look()
            if not self._lacks_executors():
                served = time.monotonic()
            elif time.monotonic() - served > _NO_EXECUTOR_SECONDS and self._stopped is not None:
                self._stopped()

    def _lacks_executors(self) -> bool:
        """Return whether there are jobs, and nothing but the driver itself."""
        with suppress(Py4JError, OSError, AttributeError):
            if not is_local(self.context.master or "") and self._scala.getExecutorMemoryStatus().size() <= 1:
                return bool(self.context.statusTracker().getActiveJobsIds())
        return False

    @property
    def _scala(self) -> Any:  # noqa: ANN401 - Spark's own context
        return self.context._jsc.sc()  # noqa: SLF001

    def ask(self) -> object:
        """Call into the JVM and return what it answers, which waits for as long as it hangs.

        Raises:
            Py4JError: It is gone.
        """
        return self.context._jvm.java.lang.System.nanoTime()  # type: ignore[union-attr]

    def stop(self, seconds: float = STOP_TIMEOUT_SECONDS) -> None:
        """End all jobs, hosts among them, then the JVM; each by force when it takes longer than `seconds`."""
        self._stopped = None
        # A JVM that is frozen, or waits for work that does not end, would never answer.
        late = threading.Timer(seconds, self.jvm.kill)
        late.daemon = True
        late.start()
        try:
            self.context.stop()
        except (PySparkException, Py4JError, OSError):
            pass  # the JVM is gone already
        finally:
            late.cancel()
            # PySpark keeps the gateway for ever, and the context too when its JVM was killed; the next
            # session of this process has another JVM.
            SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
            SparkContext._active_spark_context = None  # noqa: SLF001
            self.jvm.stop(seconds)


class TaggedJobs:
    """Jobs of a context, which other threads cancel by a tag."""

    def __init__(self, spark: Spark) -> None:
        self._spark = spark

    @contextmanager
    def tagged(self, tag: str) -> Iterator[None]:
        """Give a tag to the jobs of this thread."""
        context = self._spark.context
        context.addJobTag(tag)
        try:
            yield
        finally:
            context.removeJobTag(tag)

    def cancel(self, tag: str) -> None:
        """End the jobs of a tag, and the processes of their partitions."""
        self._spark.context.cancelJobsWithTag(tag)


def start_spark(properties: Mapping[str, str]) -> Spark:
    """Start the JVM and the context; blocks for some seconds.

    Raises:
        NoJavaError: There is no Java.
        SparkLostError: The JVM did not come up.
    """
    java = find_java(properties)
    return start_context(java, session_conf(properties), use_options(java, properties))


def start_driver(properties: Mapping[str, str]) -> Spark:
    """Start the JVM and the context of a driver of Spark; blocks for some seconds.

    Raises:
        NoJavaError: There is no Java.
        SparkLostError: The JVM or the context did not come up, as where no cluster answers.
    """
    java = find_java(properties)
    try:
        return start_context(java, driver_conf(properties), use_options(java, properties))
    except Py4JError as error:
        raise SparkLostError(f"Spark does not start the driver: {error}") from error


def start_context(
    java: Java, conf: Mapping[str, str], options: tuple[str, ...], *, quiet: bool = False
) -> Spark:
    """Start a JVM with these options and a context with this configuration; `quiet` drops the JVM's output.

    Raises:
        SparkLostError: The JVM did not come up.
    """
    _leave_numpy_out()
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
    # PySpark prints a stack trace when the JVM ends; whoever watches the JVM logs it in a line.
    context._accumulatorServer.handle_error = _ignore  # type: ignore[method-assign, assignment]  # noqa: SLF001
    return Spark(jvm, context)


def _leave_numpy_out() -> None:
    """Spare the imports of NumPy, PyArrow and PySpark's own test tools: 26 MB, and 0.1 s of CPU.

    PySpark makes them to see whether an argument of a call to the JVM is an array of NumPy; ours never are.
    """
    of_numpy = (NumpyArrayConverter, NumpyScalarConverter)
    INPUT_CONVERTER[:] = [each for each in INPUT_CONVERTER if not isinstance(each, of_numpy)]


def _ignore(*_: object) -> None:
    """Ignore an error that somebody else reports."""
