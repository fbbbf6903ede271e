"""Which store a configuration names, and how it is reached."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit
from xml.etree import ElementTree as ET

from copycat_connect.config import Password
from copycat_connect.errors import ConfigError
from copycat_connect.files import read_named_file

from copycat_objects.stores import keys
from copycat_objects.stores.keys import HADOOP_CONF
from copycat_objects.stores.local import LocalStore
from copycat_objects.stores.store import Store

_ADDRESS: Final = "dfs.namenode.http-address"
_FILES: Final = ("hdfs-site.xml", "core-site.xml")
_ENVIRONMENT: Final = "HADOOP_CONF_DIR"
_USER: Final = "HADOOP_USER_NAME"


def _user_name() -> str:
    """Return whom Hadoop's own clients would be: HADOOP_USER_NAME of the environment, or this user."""
    return os.environ.get(_USER) or pwd.getpwuid(os.geteuid()).pw_name


def web_address(folder: str | None) -> str | None:
    """Return http://host:port as the files of a folder say it; None where they do not.

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
            raise ConfigError(
                f"Invalid value {place} for configuration {HADOOP_CONF}: {file} cannot be read: {error}",
                key=HADOOP_CONF,
            ) from error
        if found:
            return f"http://{found}"
    return None


def _value(file: Path) -> str | None:
    for each in ET.fromstring(read_named_file(file)).iter("property"):  # noqa: S314  # an operator's own file
        if (each.findtext("name") or "").strip() == _ADDRESS:
            return (each.findtext("value") or "").strip()
    return None


_SHAPES: Final = "file:///folder, hdfs://host:port/folder, webhdfs://host:port/folder or s3://bucket/prefix"
_WEB_PORT: Final = 9870
_ENDPOINTS: Final = ("http", "https")


def open_store(parsed: Mapping[str, Any], url: str, key: str = keys.STORE_URL) -> Store:
    """Return the store at an address; nothing is called or made yet.

    Args:
        parsed: The connector's parsed configuration, for whatever else the store needs to know.
        url: `file:///folder` or `/folder`; `hdfs://host:port/folder`; `webhdfs://host:port/folder`, which is
            the address of WebHDFS itself; `s3://bucket/prefix`; `http://host:port` of a server like
            S3, whose bucket `s3.bucket.name` names; empty for AWS itself.
        key: The key that holds the address.

    Raises:
        ConfigError: The address is of no kind that is known; the text names the key and not the value, which
            may hold a password.
    """
    parts = _parts(url, key)
    if parts.scheme in ("hdfs", "webhdfs"):
        return _hdfs(parsed, parts, key)
    if parts.scheme in ("s3", "s3a", *_ENDPOINTS) or (not url and parsed.get(keys.BUCKET)):
        return _s3(parsed, parts)
    if parts.scheme in ("file", "") and parts.path.startswith("/") and parts.netloc in ("", "localhost"):
        return LocalStore(Path(unquote(parts.path)), key)
    raise _not_known(key)


def _parts(url: str, key: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        raise _not_known(key) from None
    if parts.password:
        raise ConfigError(
            f"Invalid value for configuration {key}: an address holds no password; use the keys for it",
            key=key,
        )
    return parts


def _not_known(key: str) -> ConfigError:
    return ConfigError(f"Invalid value for configuration {key}: expected {_SHAPES}", key=key)


def _hdfs(parsed: Mapping[str, Any], parts: SplitResult, key: str) -> Store:
    from copycat_objects.stores.webhdfs import hdfs_store  # 100 ms that other stores do not need

    if not parts.hostname:
        raise _not_known(key)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    given = parsed.get(keys.WEBHDFS_URL)
    if not given and parts.scheme == "hdfs" and keys.HADOOP_CONF in parsed:
        given = web_address(parsed[keys.HADOOP_CONF])
    port = (parts.port or _WEB_PORT) if parts.scheme == "webhdfs" else _WEB_PORT
    web = str(given) if given else f"http://{host}:{port}"
    user = parsed.get(keys.HDFS_USER) or parts.username or _user_name()
    root = unquote(parts.path).strip("/")
    address = f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}/{root}"
    return hdfs_store(web, root, str(user), address)


def _s3(parsed: Mapping[str, Any], parts: SplitResult) -> Store:
    from copycat_objects.stores.s3 import PART_BYTES, S3Store, s3_client  # 300 ms, see above

    is_endpoint = parts.scheme in _ENDPOINTS or not parts.scheme
    bucket = parsed.get(keys.BUCKET) if is_endpoint else parts.netloc
    if not bucket:
        raise ConfigError(
            f"Missing required configuration {keys.BUCKET}: the bucket is named there, or as s3://bucket",
            key=keys.BUCKET,
        )
    secret = parsed.get(keys.SECRET_KEY)
    client = s3_client(
        region=parsed.get(keys.REGION) or "us-west-2",
        endpoint=parts.geturl() if parts.scheme in _ENDPOINTS else parsed.get(keys.ENDPOINT) or None,
        access_key=parsed.get(keys.ACCESS_KEY) or None,
        secret_key=(secret.value if isinstance(secret, Password) else secret) or None,
        path_style=bool(parsed.get(keys.PATH_STYLE, True)),
        retries=int(parsed.get(keys.PART_RETRIES, 3)),
    )
    prefix = "" if is_endpoint else unquote(parts.path).strip("/")
    part_size = int(parsed.get(keys.PART_SIZE, PART_BYTES))
    return S3Store(client, str(bucket), prefix, part_size, _object_settings(parsed))


def _object_settings(parsed: Mapping[str, Any]) -> dict[str, str]:
    """Return what boto3 is given for each object."""
    told = {
        "ServerSideEncryption": parsed.get(keys.ENCRYPTION),
        "SSEKMSKeyId": parsed.get(keys.KMS_KEY),
        "ACL": parsed.get(keys.ACL),
    }
    return {name: str(value) for name, value in told.items() if value}
