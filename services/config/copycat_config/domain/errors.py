"""Why the config service refuses a command."""

from __future__ import annotations

from copycat_connect.errors import ConfigError, CopycatError, ErrorCode


class UnknownConnectorError(CopycatError):
    """The named connector has no configuration."""

    code = ErrorCode("connector.unknown", grpc="NOT_FOUND", http=404)

    def __init__(self, connector: str) -> None:
        super().__init__(f"Connector {connector} not found", connector=connector)


class ConnectorExistsError(CopycatError):
    """The connector to be created is there already."""

    code = ErrorCode("connector.exists", grpc="ALREADY_EXISTS", http=409)

    def __init__(self, connector: str) -> None:
        super().__init__(f"Connector {connector} already exists", connector=connector)


class ConnectorStoppedError(CopycatError):
    """A stopped connector has no tasks, so none can be published."""

    code = ErrorCode("connector.stopped", grpc="FAILED_PRECONDITION", http=400)

    def __init__(self, connector: str) -> None:
        super().__init__(
            f"Cannot submit non-empty set of task configs for stopped connector {connector}: resume it first",
            connector=connector,
        )


class ConfigChangedError(CopycatError):
    """The task set was made from a configuration that is no longer in force: make it again."""

    code = ErrorCode("connector.config_changed", grpc="ABORTED", http=409)

    def __init__(self, connector: str) -> None:
        super().__init__(
            f"The configuration of connector {connector} changed while its tasks were configured: "
            "configure them again from the one in force",
            connector=connector,
        )


class ConfigReplacedError(CopycatError):
    """A change was made from a configuration that is no longer in force: make it again."""

    code = ConfigChangedError.code

    def __init__(self, connector: str) -> None:
        super().__init__(
            f"The configuration of connector {connector} was replaced meanwhile: change the one in force",
            connector=connector,
        )


class TasksChangedError(CopycatError):
    """Another task set was committed while the tasks before it were fenced: begin anew."""

    code = ConfigChangedError.code

    def __init__(self, connector: str) -> None:
        super().__init__(
            f"Fencing failed because new task configurations were generated for the connector {connector}",
            connector=connector,
        )


class FencingFailedError(CopycatError):
    """Kafka refuses to fence a former task of a connector, and will until somebody mends it."""

    code = ErrorCode("fencing.failed", grpc="FAILED_PRECONDITION", http=500)

    def __init__(self, connector: str, transactional_id: str, reason: str, remedy: str) -> None:
        """`reason` is what Kafka said, `remedy` what a user can do."""
        super().__init__(
            f"The former tasks of connector {connector} could not be fenced: transactional id "
            f"{transactional_id}: {reason.rstrip('.')}. {remedy}",
            connector=connector,
            transactional_id=transactional_id,
        )


class InvalidNameError(ConfigError):
    """A name cannot be part of a record key."""

    code = ErrorCode("connector.name_invalid", grpc="INVALID_ARGUMENT", http=400)

    def __init__(self, what: str, problem: str) -> None:
        """`what` says whose name it is, `problem` what is wrong with it and what would do."""
        super().__init__(problem, key=what)


class LongNameError(InvalidNameError):
    """A name is so long that a key, or a group id made from it, would not do."""

    def __init__(self, what: str, name: str, size: int, limit: int) -> None:
        """`size` and `limit` are bytes in UTF-8."""
        super().__init__(
            what,
            f"Invalid value {name[:100]}... for configuration {what}: "
            f"String may have at most {limit} bytes in UTF-8 but has {size}",
        )


class MissingFieldError(ConfigError):
    """A request does not have a field that it needs."""

    def __init__(self, field: str, fix: str) -> None:
        super().__init__(f"{field} is missing: {fix}", key=field)
