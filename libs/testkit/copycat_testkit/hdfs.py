"""A real HDFS for tests: one NameNode and one DataNode of Hadoop on loopback, reached over WebHDFS."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Final, Self

import httpx2
from copycat_connect.errors import CopycatError
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import JavaProgram
from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.java_server import wait_answering
from copycat_testkit.kafka import wait_until

READY_SECONDS: Final = 180.0
#: Whose files they are; everybody else may read them and write nothing.
USER: Final = "copycat"
_SERVER: Final = "org.apache.hadoop.hdfs.server"
_LEAN: Final = (
    "-Xms64m",
    "-Xmx192m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    f"-DHADOOP_USER_NAME={USER}",
)


class Hdfs:
    """One HDFS, whose files outlive a stop and a kill; addresses stay the same."""

    def __init__(self, folder: Path) -> None:
        """Nothing starts yet; `folder` receives files, settings and logs."""
        self._folder = folder
        self._rpc, self._web, *self._node_ports = free_ports(5)
        self._name_node: JavaProgram | None = None
        self._data_node: JavaProgram | None = None

    @property
    def url(self) -> str:
        """What `hdfs.url` is set to, without a path."""
        return f"hdfs://{LOOPBACK}:{self._rpc}"

    @property
    def web_url(self) -> str:
        """Where WebHDFS is; it is on no port that follows from `url`."""
        return f"http://{LOOPBACK}:{self._web}"

    def environment(self) -> dict[str, str]:
        """Return the variables by which Hadoop's clients find it; one of them names a file made here."""
        site = self._folder / "conf" / "hdfs-site.xml"
        site.parent.mkdir(parents=True, exist_ok=True)
        name = "dfs.namenode.http-address"
        value = self._settings()[name]
        site.write_text(
            f"<configuration><property><name>{name}</name><value>{value}</value></property></configuration>\n"
        )
        return {"HADOOP_CONF_DIR": str(site.parent), "HADOOP_USER_NAME": USER}

    def start(self) -> Self:
        """Start both, and wait until files can be written.

        Raises:
            CopycatError: One ended or was not ready in time; the text ends with its last lines.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "log4j2.properties").write_text(_LOGGING)
        if not (self._folder / "name").is_dir():
            self._format()
        self._name_node = self._run("namenode.NameNode")
        self.start_data_node()
        wait_answering(
            self._name_node,
            f"{self.web_url}/webhdfs/v1/?op=LISTSTATUS&user.name={USER}",
            READY_SECONDS,
            "The NameNode",
            self._folder / "NameNode.log",
        )
        wait_until(self._is_writable, READY_SECONDS, "HDFS takes files")
        return self

    def start_data_node(self) -> None:
        """Start the DataNode alone; it is not waited for."""
        self._data_node = self._run("datanode.DataNode")

    def kill_data_node(self) -> None:
        """End the DataNode by force: names are found, and no content."""
        if self._data_node is not None:
            self._data_node.kill()
            self._data_node = None

    def set_quota(self, path: str, *, names: int) -> None:
        """Let a folder hold so many names, itself among them."""
        answer = httpx2.put(
            f"{self.web_url}/webhdfs/v1{path}",
            params={"op": "SETQUOTA", "user.name": USER, "namespacequota": str(names)},
        )
        answer.raise_for_status()

    def stop(self) -> None:
        """Stop both cleanly; the first clean stop on a machine leaves what makes later starts quicker."""
        for program in (self._data_node, self._name_node):
            if program is not None:
                program.stop()
        self._data_node = self._name_node = None

    def kill(self) -> None:
        """End both by force, as a crash would; nothing happens when they do not run."""
        self.kill_data_node()
        if self._name_node is not None:
            self._name_node.kill()
            self._name_node = None

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def _format(self) -> None:
        program = self._run("namenode.NameNode", "-format", "-nonInteractive", log="format")
        wait_until(
            lambda: program.exit_code() is not None, READY_SECONDS, "The NameNode's folder is formatted"
        )
        failed = program.exit_code() != 0
        program.stop()
        if failed:
            raise CopycatError(f"The NameNode's folder could not be formatted:\n{program.last_lines()}")

    def _run(self, name: str, *arguments: str, log: str = "") -> JavaProgram:
        settings = [part for each in self._settings().items() for part in ("-D", "=".join(each))]
        return JavaProgram(
            f"{_SERVER}.{name}",
            [*settings, *arguments],
            class_path=ensure_jars(("hdfs",)),
            options=(*_LEAN, f"-Dlog4j2.configurationFile={self._folder / 'log4j2.properties'}"),
            log=self._folder / f"{log or name.rpartition('.')[2]}.log",
            archive_folder=self._folder,
        )

    def _is_writable(self) -> bool:
        """Write a file: a DataNode that has registered may have no room to offer yet."""
        question = {"op": "CREATE", "user.name": USER, "overwrite": "true", "noredirect": "true"}
        try:
            answer = httpx2.put(f"{self.web_url}/webhdfs/v1/ready", params=question, timeout=10)
            if answer.is_error:
                return False
            return httpx2.put(answer.json()["Location"], content=b"ready", timeout=10).is_success
        except httpx2.HTTPError:
            return False

    def _settings(self) -> dict[str, str]:
        files, node, node_rpc = self._node_ports
        return {
            "fs.defaultFS": self.url,
            "hadoop.tmp.dir": f"{self._folder}/other",
            "dfs.replication": "1",
            "dfs.namenode.name.dir": f"{self._folder}/name",
            "dfs.datanode.data.dir": f"{self._folder}/node",
            "dfs.namenode.http-address": f"{LOOPBACK}:{self._web}",
            "dfs.datanode.address": f"{LOOPBACK}:{files}",
            "dfs.datanode.http.address": f"{LOOPBACK}:{node}",
            "dfs.datanode.ipc.address": f"{LOOPBACK}:{node_rpc}",
            "dfs.datanode.hostname": LOOPBACK,
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.namenode.safemode.extension": "0",
            # A file that is closed is complete once the DataNode has reported its block. Where that takes
            # longer than the first look, which it mostly does, 400 ms pass until the next one.
            "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "10",
            "dfs.heartbeat.interval": "1",
            "dfs.namenode.heartbeat.recheck-interval": "1000",
        }


_LOGGING: Final = """\
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n
"""
