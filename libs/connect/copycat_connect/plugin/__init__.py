"""The plugin contracts: connectors, tasks, converters, transformations, REST extensions; the registry."""

from copycat_connect.cluster import Caller
from copycat_connect.plugin.connectors import (
    Connector,
    ExactlyOnceSupport,
    OffsetEffect,
    OffsetMove,
    SinkConnector,
    SourceConnector,
)
from copycat_connect.plugin.contexts import (
    ConnectorContext,
    ErrantRecordReporter,
    QueryEngine,
    SinkTaskContext,
    SourceTaskContext,
    TransactionContext,
    TransformationContext,
)
from copycat_connect.plugin.converters import Converter, HeaderConverter
from copycat_connect.plugin.loading import load_plugins
from copycat_connect.plugin.page import render_page
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.rest_extensions import (
    ClusterDetails,
    ClusterState,
    ConnectorHealth,
    InstanceHealth,
    RestAnswer,
    RestExtension,
    RestExtensionContext,
    RestRequest,
)
from copycat_connect.plugin.row_query import (
    INPUT_COLUMNS,
    KEY_EXPRESSION,
    ROW_QUERY_KEYS,
    SQL_KEY,
    STATE_URL,
    TABLES,
    TOPIC_EXPRESSION,
    WATERMARK_COLUMN,
    WATERMARK_DELAY,
    RowQuery,
    columns_of_topics,
    topic_tables,
)
from copycat_connect.plugin.spark import SparkSinkTask, SparkSourceTask, SparkStream, SparkUnit, StreamBatch
from copycat_connect.plugin.spec import CONNECTORS, PluginKind, PluginSpec, UnloadablePlugin
from copycat_connect.plugin.tasks import SinkTask, SourceTask
from copycat_connect.plugin.topic_rows import (
    INPUT_TOPICS,
    RecordRange,
    ReportRecord,
    RowsOfRecords,
    TopicRows,
    TopicSourceContext,
    input_config,
)
from copycat_connect.plugin.transformations import Predicate, Transformation

__all__ = [
    "CONNECTORS",
    "INPUT_COLUMNS",
    "INPUT_TOPICS",
    "KEY_EXPRESSION",
    "ROW_QUERY_KEYS",
    "SQL_KEY",
    "STATE_URL",
    "TABLES",
    "TOPIC_EXPRESSION",
    "WATERMARK_COLUMN",
    "WATERMARK_DELAY",
    "Caller",
    "ClusterDetails",
    "ClusterState",
    "Connector",
    "ConnectorContext",
    "ConnectorHealth",
    "Converter",
    "ErrantRecordReporter",
    "ExactlyOnceSupport",
    "HeaderConverter",
    "InstanceHealth",
    "OffsetEffect",
    "OffsetMove",
    "PluginKind",
    "PluginSpec",
    "Plugins",
    "Predicate",
    "QueryEngine",
    "RecordRange",
    "ReportRecord",
    "RestAnswer",
    "RestExtension",
    "RestExtensionContext",
    "RestRequest",
    "RowQuery",
    "RowsOfRecords",
    "SinkConnector",
    "SinkTask",
    "SinkTaskContext",
    "SourceConnector",
    "SourceTask",
    "SourceTaskContext",
    "SparkSinkTask",
    "SparkSourceTask",
    "SparkStream",
    "SparkUnit",
    "StreamBatch",
    "TopicRows",
    "TopicSourceContext",
    "TransactionContext",
    "Transformation",
    "TransformationContext",
    "UnloadablePlugin",
    "columns_of_topics",
    "input_config",
    "load_plugins",
    "render_page",
    "topic_tables",
]
