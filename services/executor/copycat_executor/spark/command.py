"""The command line of Spark's JVM, lean and without the launcher scripts.

`spark-submit` runs a shell and a first JVM only to find this command out; that costs half a second. A class
archive halves the rest (two busy cores, to the first host: 11 s and 8 s of CPU without, 5 s and 4 s with).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pyspark
from copycat_connect.java_runtime import Java, first_java, given_javas

JAVA_HOME = "spark.java.home"
#: Other users of this machine see command lines: these go to the JVM by its gateway.
HIDDEN = frozenset({"spark.authenticate.secret"})
ENTRY = "org.apache.spark.deploy.SparkSubmit"
LOG4J = Path(__file__).with_name("log4j2.properties")
#: Packages Spark must get at (its JavaModuleOptions). Its incubating vector module is left out: only machine
#: learning uses it, and not every Java has it.
OPENED = (
    *(
        f"java.base/java.{name}"
        for name in ("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util")
    ),
    *(f"java.base/java.util.{name}" for name in ("concurrent", "concurrent.atomic")),
    *(f"java.base/sun.{name}" for name in ("nio.ch", "nio.cs", "security.action", "util.calendar")),
    "java.base/jdk.internal.ref",
    "java.security.jgss/sun.security.krb5",
)
LEAN = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xss512k",
    "-Xms48m",
    "-Xmn6m",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    f"-Dlog4j2.configurationFile={LOG4J.as_uri()}",
)


def find_java(properties: Mapping[str, str]) -> Java:
    """Return the Java that runs Spark: the one of `spark.java.home`, or else of JAVA_HOME, or of the PATH.

    Raises:
        NoJavaError: No Java of version 17 or newer was found; the text lists what was looked at.
    """
    home = properties.get(JAVA_HOME)
    places = [(JAVA_HOME, Path(home) / "bin" / "java")] if home else given_javas(os.environ)
    return first_java(places, f"Install one and set {JAVA_HOME} to its folder")


def spark_home() -> Path:
    """Return the folder of the installed PySpark."""
    return Path(pyspark.__file__).resolve().parent


def class_path(conf: Mapping[str, str]) -> list[str]:
    """Return the JVM's class path: jars one by one, because a class archive takes no folder."""
    jars = sorted(str(jar) for jar in (spark_home() / "jars").glob("*.jar"))
    extra = conf.get("spark.driver.extraClassPath", "")
    folders = [os.environ[name] for name in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR") if os.environ.get(name)]
    return [*(extra.split(os.pathsep) if extra else ()), *folders, *jars]


def command_line(java: Java, conf: Mapping[str, str], options: tuple[str, ...] = ()) -> list[str]:
    """Return the command that starts the JVM of a session with this configuration."""
    return [
        str(java.executable),
        *LEAN,
        f"-Xmx{conf['spark.driver.memory']}",
        *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED),
        *options,
        *conf.get("spark.driver.extraJavaOptions", "").split(),
        "-cp",
        os.pathsep.join(class_path(conf)),
        ENTRY,
        *(part for key, value in conf.items() if key not in HIDDEN for part in ("--conf", f"{key}={value}")),
        "pyspark-shell",
    ]
