"""What a failed call of S3 means."""

from __future__ import annotations

from typing import Final

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
)
from copycat_connect.errors import ConnectError

from copycat_objects.stores.errors import (
    FileMissingError,
    FileTakenError,
    StoreAwayError,
    StoreFullError,
    StoreRefusedError,
)

BUCKET_KEY: Final = "s3.bucket.name"
REGION_KEY: Final = "s3.region"
ACCESS_KEY: Final = "aws.access.key.id"
SECRET_KEY: Final = "aws.secret.access.key"  # noqa: S105  the name of a key
ENDPOINT_KEY: Final = "store.url"
_MISSING: Final = frozenset({"NoSuchKey", "404", "NotFound"})
_TAKEN: Final = frozenset({"PreconditionFailed", "412"})
#: Two who write one object at a time: one of them has to look again.
_AT_ONCE: Final = frozenset({"ConditionalRequestConflict", "OperationAborted"})
_NO_LOGIN: Final = frozenset(
    {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidClientTokenId", "ExpiredToken", "InvalidToken",
     "AuthFailure", "401"}
)  # fmt: skip
_NO_RIGHT: Final = frozenset({"AccessDenied", "AllAccessDisabled", "AccountProblem", "403"})
_OTHER_REGION: Final = frozenset(
    {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301", "400"}
)
_FULL: Final = frozenset({"QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "507"})
_PASSING: Final = frozenset(
    {"SlowDown", "RequestTimeout", "Throttling", "ThrottlingException", "RequestLimitExceeded",
     "RequestTimeTooSkewed", "NoSuchUpload", "InternalError", "ServiceUnavailable"}
)  # fmt: skip


def failed(error: Exception, doing: str, store: str) -> ConnectError:
    """Return the error to raise for a failed call.

    Args:
        error: What botocore raised, or the connection below it.
        doing: What was tried, e.g. `write a/b`.
        store: The bucket as users know it.
    """
    if isinstance(error, ClientError):
        return _refused(error, f"Cannot {doing} in {store}: {_said(error)}")
    if isinstance(error, (NoCredentialsError, PartialCredentialsError)):
        return StoreRefusedError(
            f"Cannot {doing} in {store}: there is no login; set '{ACCESS_KEY}' and '{SECRET_KEY}', or "
            "give this machine a role or a profile of AWS"
        )
    if isinstance(error, (ConnectionError, HTTPClientError, IncompleteReadError, OSError)):
        return StoreAwayError(
            f"Cannot {doing} in {store}: no answer ({type(error).__name__}); is the server up, and is "
            f"'{ENDPOINT_KEY}' right?"
        )
    return StoreRefusedError(f"Cannot {doing} in {store}: {error}")


def code_of(error: ClientError) -> str:
    """Return S3's name of a refusal, the HTTP status without one."""
    return str(error.response.get("Error", {}).get("Code", ""))


def _refused(error: ClientError, text: str) -> ConnectError:
    code = code_of(error)
    if code in _MISSING:
        return FileMissingError(text)
    if code in _TAKEN:
        return FileTakenError(text)
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code in _AT_ONCE or code in _PASSING or (status >= 500 and code not in _FULL):
        return StoreAwayError(text)
    if code in _FULL:
        return StoreFullError(f"{text}; the store or the quota is full: make room there")
    return StoreRefusedError(f"{text}; {_remedy(code)}")


def _remedy(code: str) -> str:
    if code == "NoSuchBucket":
        return f"make the bucket, or name another in '{BUCKET_KEY}'"
    if code in _NO_LOGIN:
        return f"look at '{ACCESS_KEY}' and '{SECRET_KEY}'"
    if code in _NO_RIGHT:
        return f"let the user of '{ACCESS_KEY}' list, read, write and delete in the bucket of '{BUCKET_KEY}'"
    if code in _OTHER_REGION:
        return f"look at '{REGION_KEY}' and '{ENDPOINT_KEY}'"
    return f"look at '{ENDPOINT_KEY}', '{BUCKET_KEY}' and '{REGION_KEY}'"


def _said(error: ClientError) -> str:
    told = error.response.get("Error", {})
    return f"{told.get('Message') or 'refused'} ({told.get('Code') or 'no code'})"
