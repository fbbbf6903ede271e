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

    code = ErrorCode("connector.stopped", grpc="FAILED_PRECONDITION", http=409)

    def __init__(self, connector: str) -> None:
        super().__init__(
            f"Connector {connector} is stopped and has no tasks: resume it first", connector=connector
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


class InvalidNameError(ConfigError):
    """A name cannot be a record key; the text says why and what would do."""

    code = ErrorCode("connector.name_invalid", grpc="INVALID_ARGUMENT", http=400)
