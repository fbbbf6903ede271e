"""What a Hadoop client's configuration tells: where the NameNode's web interface is, and whom to be."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from copycat_connect.errors import ConfigError
from copycat_connect.named_files import read_named_file

from copycat_plugins.connectors.stores.keys import HADOOP_CONF

_ADDRESS: Final = "dfs.namenode.http-address"
_FILES: Final = ("hdfs-site.xml", "core-site.xml")
_ENVIRONMENT: Final = "HADOOP_CONF_DIR"
_USER: Final = "HADOOP_USER_NAME"


def user_name() -> str:
    """Return whom Hadoop's own clients would be: HADOOP_USER_NAME of the environment, or this user."""
    return os.environ.get(_USER) or pwd.getpwuid(os.geteuid()).pw_name


def web_address(folder: str | None) -> str | None:
    """Return http://host:port as the files of a folder tell it; None where they do not.

    Args:
        folder: The folder; without one, what HADOOP_CONF_DIR of the environment names, as for Hadoop itself.

    Raises:
        ConfigError: A file there cannot be read.
    """
    place = folder or os.environ.get(_ENVIRONMENT)  # where every client of Hadoop looks
    if not place:
        return None
    for name in _FILES:
        file = Path(place) / name
        try:
            found = _value(file)
        except FileNotFoundError:
            continue
        except (OSError, ET.ParseError) as error:
            message = f"Invalid value {place} for configuration {HADOOP_CONF}: {file} cannot be read: {error}"
            raise ConfigError(message, key=HADOOP_CONF) from error
        if found:
            return f"http://{found}"
    return None


def _value(file: Path) -> str | None:
    for each in ET.fromstring(read_named_file(file)).iter("property"):  # noqa: S314  # an operator's own file
        if (each.findtext("name") or "").strip() == _ADDRESS:
            return (each.findtext("value") or "").strip()
    return None
