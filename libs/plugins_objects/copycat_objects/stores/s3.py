"""A bucket of S3, or of a server that speaks its protocol, as a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from copycat_connect.errors import ConnectError

from copycat_objects.stores.errors import FileMissingError, FileTakenError
from copycat_objects.stores.pieces import Body, answer_file, empty_file
from copycat_objects.stores.s3_failures import code_of, failed
from copycat_objects.stores.s3_upload import S3File
from copycat_objects.stores.store import StoredFile

PART_BYTES: Final = 26_214_400
#: S3 copies up to 5 GiB in one call; less keeps a call short.
_COPY_BYTES: Final = 512 << 20
_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 60
_NOT_SATISFIABLE: Final = frozenset({"InvalidRange", "416"})


class S3Store:
    """Objects whose keys begin with a prefix; an object appears whole when it is closed."""

    shows_unclosed_files = False

    def __init__(
        self,
        client: Any,
        bucket: str,
        prefix: str = "",
        part_size: int = PART_BYTES,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Use a client of boto3, as `s3_client` makes it.

        Args:
            client: The client; it is closed with the store.
            bucket: The bucket, which must be there.
            prefix: What paths are below, without `/` at its ends; empty for the whole bucket.
            part_size: Bytes of a part, 5 MiB at least; so much is kept in memory for each file being written.
            settings: What boto3 is given for each object, such as its encryption.
        """
        self._client = client
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self._part_size = part_size
        self._settings = settings or {}

    @property
    def name(self) -> str:
        """The bucket as an address."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def create(self, path: str, *, replace: bool = False) -> S3File:
        """Begin an object; see the port."""
        return S3File(
            self._client,
            self._bucket,
            self._prefix + path,
            self.name,
            self._part_size,
            replace=replace,
            settings=self._settings,
        )

    def rename(self, source: str, target: str) -> None:
        """Copy an object without replacing another, then delete the source; see the port."""
        found = self.find(source)
        if found is None:
            raise FileMissingError(f"Cannot rename {source} in {self.name}: there is no such object")
        if self.find(target) is not None:
            raise FileTakenError(f"Cannot rename {source} to {target} in {self.name}: there is an object")
        copy = self.create(target)
        if found.size <= self._part_size:
            copy.write(self.read(source, 0, found.size))
        else:
            place = {"Bucket": self._bucket, "Key": self._prefix + source}
            for first in range(0, found.size, _COPY_BYTES):
                copy.copy_part(place, first, min(first + _COPY_BYTES, found.size) - 1)
        copy.close()
        self.delete(source)

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Yield every object, a thousand a call; marks of empty folders are left out. See the port."""
        prefix = f"{self._prefix}{folder}/" if folder else self._prefix
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
        try:
            for page in pages:
                for found in page.get("Contents", ()):
                    if not found["Key"].endswith("/"):
                        yield self._stored(found["Key"], found["Size"], found["LastModified"])
        except (BotoCoreError, ClientError) as error:
            raise self._failed(error, f"list {prefix or 'the bucket'}") from error

    def has_folder(self, folder: str = "") -> bool:
        """Return True: here names have beginnings, and there are no folders. See the port."""
        del folder
        return True

    def find(self, path: str) -> StoredFile | None:
        """Return the object at a path; see the port."""
        key = self._prefix + path
        try:
            found = self._client.head_object(Bucket=self._bucket, Key=key)
        except (BotoCoreError, ClientError) as error:
            told = self._failed(error, f"look at {key}")
            if isinstance(told, FileMissingError):
                return None
            raise told from error
        return self._stored(key, found["ContentLength"], found["LastModified"])

    def open(self, path: str, offset: int = 0) -> BinaryIO:
        """Open for reading; see the port."""
        doing = f"read {self._prefix}{path}"
        body = self._get(path, f"bytes={offset}-" if offset else None, doing)
        return empty_file() if body is None else self._file(body, doing)

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return some bytes of an object; see the port."""
        if length <= 0:
            return b""
        doing = f"read {self._prefix}{path}"
        body = self._get(path, f"bytes={offset}-{offset + length - 1}", doing)
        if body is None:
            return b""
        with self._file(body, doing) as opened:
            return opened.read()

    def delete(self, path: str) -> None:
        """Remove an object; see the port."""
        try:
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + path)
        except (BotoCoreError, ClientError) as error:
            raise self._failed(error, f"delete {self._prefix}{path}") from error

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def _get(self, path: str, span: str | None, doing: str) -> Body | None:
        """Return the body of an object or of a part of it; None where the part begins behind the end."""
        asked = {} if span is None else {"Range": span}
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=self._prefix + path, **asked)
        except ClientError as error:
            if code_of(error) in _NOT_SATISFIABLE:
                return None
            raise self._failed(error, doing) from error
        except BotoCoreError as error:
            raise self._failed(error, doing) from error
        return cast("Body", found["Body"])

    def _file(self, body: Body, doing: str) -> BinaryIO:
        return answer_file(body, lambda error: self._failed(error, doing))

    def _stored(self, key: str, size: int, modified: Any) -> StoredFile:
        return StoredFile(key[len(self._prefix) :], size, int(modified.timestamp() * 1000))

    def _failed(self, error: Exception, doing: str) -> ConnectError:
        return failed(error, doing, self.name)


def s3_client(
    *,
    region: str,
    endpoint: str | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
    path_style: bool = False,
    retries: int = 3,
) -> Any:
    """Return a client; without keys it finds AWS's own credentials of this machine.

    Args:
        region: Name of the region, e.g. `us-west-2`.
        endpoint: Address of another server than AWS's.
        access_key: Whom to be.
        secret_key: The secret that belongs to it.
        path_style: True writes the bucket into the path of addresses; an endpoint of numbers has it anyway.
        retries: How often a call is made again at once before it counts as failed.
    """
    return boto3.session.Session().client(
        "s3",
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": retries + 1},
            s3={"addressing_style": "path" if path_style else "auto"},
            # Servers other than AWS's may not know the checksums that boto3 would add by itself.
            request_checksum_calculation="when_required" if endpoint else "when_supported",
        ),
    )
