"""Apache Kafka Connect itself, as a child process: oracle of compat tests, peer of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from copycat_embedded.broker import JavaServer
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import JavaProgram
from copycat_embedded.lock import JarSet
from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.java_server import wait_answering

READY_SECONDS = 180.0
#: What `kafka-run-class.sh` gives the JVM of whatever it starts.
SHIPPED_JVM = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
)
#: And `connect-distributed.sh`: measured against anything less, nothing would be proved.
SHIPPED = ("-Xms256M", "-Xmx2G", *SHIPPED_JVM)
#: For a worker that lives for a minute: starts with half of the CPU.
LEAN = (
    "-Xms64M",
    "-Xmx512M",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
)
LOGGING = """status = ERROR
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
"""


class ConnectPeer(JavaServer):
    """One distributed worker of Apache Kafka Connect 4.4.0 with its file connectors, on loopback.

    Topics are named after the group (`<group>-configs`, `<group>-offsets`, `<group>-status`); any worker
    property may be given or replaced through `properties`, topic names included.
    """

    def __init__(
        self,
        bootstrap: str,
        folder: Path,
        *,
        group: str = "connect",
        port: int = 0,
        properties: Mapping[str, str] | None = None,
        as_shipped: bool = False,
        jars: Sequence[JarSet] = ("connect",),
    ) -> None:
        """Nothing starts yet; `folder` receives its properties and its log, `port` 0 picks a free one.

        `as_shipped` gives its JVM the options of Kafka's own start script, as measurements need them; they
        cost more at the start. `jars` are the sets of its class path: `connect-old` in place of `connect`
        runs 3.4.1, the last release before KIP-875, `mirror` brings MirrorMaker's connectors.
        """
        super().__init__()
        self._bootstrap = bootstrap
        self._folder = folder
        self._group = group
        self._wanted_port = port
        self._properties = dict(properties or {})
        self._options = SHIPPED if as_shipped else LEAN
        self._jars = tuple(jars)
        self._port = 0

    @property
    def url(self) -> str:
        """The root of its REST interface, without a slash at the end."""
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def log(self) -> Path:
        """Its output; begun anew at every start."""
        return self._folder / "connect.log"

    def start(self) -> str:
        """Start, wait until its REST interface says that it is ready, and return the root of that.

        Raises:
            CopycatError: It ended or was not ready in time; the text ends with its last lines.
        """
        self._port = self._wanted_port or free_ports(1)[0]
        jars = ensure_jars(self._jars)
        plugins = [jar for jar in jars if jar.name.startswith("connect-file-")]
        self._folder.mkdir(parents=True, exist_ok=True)
        worker = self._folder / "connect-distributed.properties"
        worker.write_text("".join(f"{k}={v}\n" for k, v in self._settings(plugins).items()), encoding="utf-8")
        logging = self._folder / "connect-log4j2.properties"
        logging.write_text(LOGGING, encoding="utf-8")
        program = JavaProgram(
            "org.apache.kafka.connect.cli.ConnectDistributed",
            [str(worker)],
            class_path=[jar for jar in jars if jar not in plugins],
            options=(*self._options, f"-Dlog4j2.configurationFile={logging}"),
            log=self.log,
        )
        wait_answering(
            program,
            f"{self.url}/connectors" if "connect-old" in self._jars else f"{self.url}/health",
            READY_SECONDS,
            "Apache Kafka Connect",
            self.log,
        )
        self._program = program
        return self.url

    def _settings(self, plugins: Sequence[Path]) -> dict[str, str]:
        topics = {
            f"{what}.storage.{key}": value
            for what, suffix in (("config", "configs"), ("offset", "offsets"), ("status", "status"))
            for key, value in (("topic", f"{self._group}-{suffix}"), ("replication.factor", "1"))
        }
        return {
            "bootstrap.servers": self._bootstrap,
            "group.id": self._group,
            "listeners": self.url,
            **({"plugin.path": ",".join(map(str, plugins))} if plugins else {}),
            "key.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **topics,
            **self._properties,
        }
