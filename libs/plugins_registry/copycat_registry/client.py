"""Registry: what converters ask a schema registry, with answers that say what to do when it fails.

Nothing is cached here: converters keep what they made of an answer, so that no record costs a request.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import httpx2
from confluent_kafka.schema_registry import Schema as RegistrySchema
from confluent_kafka.schema_registry import SchemaRegistryClient, SchemaRegistryError
from copycat_avro.schema_text import SchemaText
from copycat_connect.errors import ConfigError, DataError

from copycat_registry import failures
from copycat_registry.settings import SSL, TRUST_STORE, RegistrySettings

T = TypeVar("T")


class RegistryConnection:
    """One converter's connection to its registry; connects when it is first asked."""

    def __init__(self, settings: RegistrySettings, format_name: str) -> None:
        """Prepare the client.

        Raises:
            ConfigError: Credentials are missing or wrong, or a certificate cannot be read.
        """
        self._settings = settings
        self._format = format_name
        config = settings.client_config()
        try:
            self._client = SchemaRegistryClient(config)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"A file named under {SSL}* cannot be read ({error.strerror}): check that it is there, "
                "that it is a PEM file, and its password.",
                key=TRUST_STORE,
            ) from error

    def register(self, topic: str, subject: str, schema: SchemaText) -> int:
        """Return the id of a schema, registered under the subject if it was not.

        Raises:
            DataError: The registry refuses the schema.
            RetriableError: The registry is away.
        """
        what = f"register the schema of subject {subject}"
        return self._ask(topic, subject, what, partial(
            self._client.register_schema, subject, self._own(schema), self._settings.normalize
        ))  # fmt: skip

    def lookup(self, topic: str, subject: str, schema: SchemaText) -> int:
        """Return the id under which a subject has a schema.

        Raises:
            DataError: It does not have it.
            RetriableError: The registry is away.
        """
        what = f"find the schema of subject {subject}"
        found = self._ask(topic, subject, what, partial(
            self._client.lookup_schema, subject, self._own(schema), self._settings.normalize
        ))  # fmt: skip
        return _number(found.schema_id)

    def latest(self, topic: str, subject: str) -> tuple[int, SchemaText]:
        """Return id and text of a subject's latest version.

        Raises:
            DataError: It is missing.
            RetriableError: The registry is away.
        """
        what = f"find the latest version of subject {subject}"
        found = self._ask(topic, subject, what, partial(self._client.get_latest_version, subject))
        return _number(found.schema_id), self._text(topic, subject, found.schema)

    def by_id(self, topic: str, schema_id: int) -> SchemaText:
        """Return the schema of an id.

        Raises:
            DataError: It is missing, or of another format.
            RetriableError: The registry is away.
        """
        what = f"find schema {schema_id}"
        schema = self._ask(topic, "", what, partial(self._client.get_schema, schema_id))
        if schema.schema_type != self._format:
            raise failures.other_format(topic, schema_id, schema.schema_type, self._format)
        return self._text(topic, "", schema)

    def version(self, topic: str, schema_id: int, subject: str) -> int | None:
        """Return the version that an id is of a subject; None when the subject does not have it.

        None too when the registry does not know: a version is good to know, and no reason to refuse a record.

        Raises:
            RetriableError: The registry is away.
        """
        what = f"find the version of schema {schema_id}"
        try:
            found = self._ask(topic, subject, what, partial(self._client.get_schema_versions, schema_id))
        except DataError:
            return None
        return next((_number(each.version) for each in found if each.subject == subject), None)

    def close(self) -> None:
        """Close the connections to the registry."""
        self._client.close()

    def _own(self, schema: SchemaText) -> RegistrySchema:
        return RegistrySchema(schema.text, self._format)

    def _text(self, topic: str, subject: str, schema: RegistrySchema) -> SchemaText:
        references = []
        for each in schema.references or ():
            what = f"find version {each.version} of subject {each.subject}, which a schema refers to"
            found = self._ask(
                topic,
                subject,
                what,
                partial(self._client.get_version, str(each.subject), _number(each.version)),
            )
            references.append((str(each.name), self._text(topic, subject, found.schema)))
        return SchemaText(str(schema.schema_str), tuple(references))

    def _ask(self, topic: str, subject: str, what: str, question: Callable[[], T]) -> T:
        try:
            return question()
        except SchemaRegistryError as error:
            raise failures.refused(
                error.http_status_code, error.error_message, topic=topic, subject=subject, what=what
            ) from error
        except httpx2.TransportError as error:
            raise failures.away(error, self._settings.shown_urls, topic=topic, what=what) from error
        except ValueError as error:  # no JSON
            raise failures.something_else(self._settings.shown_urls, topic=topic, what=what) from error


def _number(answered: int | None) -> int:
    """Return a number that every registry answers with, although the client's types allow for none."""
    assert answered is not None  # see above
    return answered
