"""An object of S3 that is being written: it appears whole, and without replacing another where asked."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from copycat_connect.errors import ConnectError

from copycat_objects.stores.errors import FileTakenError
from copycat_objects.stores.pieces import Parts
from copycat_objects.stores.s3_failures import failed

#: What an object says of who wrote it: whoever is refused because it exists sees whether it is its own.
_WRITER: Final = "copycat-writer"


class S3File:
    """An upload: in one call where it is small, else in parts, which S3 joins when it is closed."""

    def __init__(
        self,
        client: Any,
        bucket: str,
        key: str,
        store: str,
        part_size: int,
        *,
        replace: bool,
        settings: Mapping[str, str],
    ) -> None:
        """Nothing is called before the first part is full; `settings` go to boto3 for each object."""
        self._client = client
        self._place = {"Bucket": bucket, "Key": key}
        self._store = store
        self._doing = f"write {key}"
        self._condition = {} if replace else {"IfNoneMatch": "*"}
        self._metadata = {_WRITER: uuid.uuid4().hex}
        self._settings = settings
        self._parts = Parts(part_size, self._send)
        self._upload: str | None = None
        self._sent: list[dict[str, Any]] = []

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._parts.size

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes; see the port."""
        self._parts.write(content)

    def close(self) -> None:
        """Make the object appear; see the port."""
        rest = self._parts.rest()
        if self._upload is not None and rest:
            self._send(rest)
        try:
            self._publish(rest)
        except FileTakenError:
            # A call that was made twice, since its first answer was lost, is refused because of itself.
            if not self._is_ours():
                self.abort()
                raise
        self._upload = None

    def abort(self) -> None:
        """Drop the parts; see the port."""
        if self._upload is not None:
            upload, self._upload = self._upload, None
            try:
                self._client.abort_multipart_upload(**self._place, UploadId=upload)
            except (BotoCoreError, ClientError):
                return  # the bucket's own rule for unfinished uploads removes the parts

    def copy_part(self, source: dict[str, str], first: int, last: int) -> None:
        """Append bytes of another object, from the first to the last one, without moving them over here."""
        try:
            done = self._client.upload_part_copy(
                **self._place,
                UploadId=self._begun(),
                PartNumber=len(self._sent) + 1,
                CopySource=source,
                CopySourceRange=f"bytes={first}-{last}",
            )
        except (BotoCoreError, ClientError) as error:
            raise self._failed(error) from error
        self._sent.append({"ETag": done["CopyPartResult"]["ETag"], "PartNumber": len(self._sent) + 1})

    def _begun(self) -> str:
        if self._upload is None:
            begun = self._client.create_multipart_upload(
                **self._place, Metadata=self._metadata, **self._settings
            )
            self._upload = str(begun["UploadId"])
        return self._upload

    def _send(self, part: bytes) -> None:
        number = len(self._sent) + 1
        try:
            done = self._client.upload_part(
                **self._place, UploadId=self._begun(), PartNumber=number, Body=part
            )
        except (BotoCoreError, ClientError) as error:
            raise self._failed(error) from error
        self._sent.append({"ETag": done["ETag"], "PartNumber": number})

    def _publish(self, rest: bytes) -> None:
        try:
            if self._upload is None:
                self._client.put_object(
                    **self._place, Body=rest, Metadata=self._metadata, **self._settings, **self._condition
                )
            else:
                self._client.complete_multipart_upload(
                    **self._place,
                    UploadId=self._upload,
                    MultipartUpload={"Parts": self._sent},
                    **self._condition,
                )
        except (BotoCoreError, ClientError) as error:
            raise self._failed(error) from error

    def _is_ours(self) -> bool:
        try:
            found = self._client.head_object(**self._place)
        except (BotoCoreError, ClientError) as error:
            raise self._failed(error) from error
        return bool(found.get("Metadata", {}).get(_WRITER) == self._metadata[_WRITER])

    def _failed(self, error: BotoCoreError | ClientError) -> ConnectError:
        return failed(error, self._doing, self._store)
