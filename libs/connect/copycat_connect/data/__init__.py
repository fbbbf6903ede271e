"""The data model: schemas, structs, records, headers and batches."""

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.batches import SinkBatch, SourceBatch
from copycat_connect.data.far_dates import FarDate, FarTimestamp
from copycat_connect.data.headers import Header, Headers
from copycat_connect.data.logical import (
    DATE_SCHEMA,
    OPTIONAL_DATE_SCHEMA,
    OPTIONAL_TIME_SCHEMA,
    OPTIONAL_TIMESTAMP_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    decimal_schema,
)
from copycat_connect.data.map_columns import MapColumn, MapColumns
from copycat_connect.data.projection import SchemaProjectionError, project
from copycat_connect.data.record_metadata import RecordMetadata
from copycat_connect.data.records import (
    ConnectRecord,
    SinkRecord,
    SourceRecord,
    TimestampType,
)
from copycat_connect.data.schema import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT8_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Field,
    Schema,
    SchemaType,
)
from copycat_connect.data.schema_and_value import NULL, SchemaAndValue
from copycat_connect.data.schema_builder import SchemaBuilder, SchemaBuilderError
from copycat_connect.data.struct import Struct
from copycat_connect.data.struct_columns import StructColumn, StructColumns
from copycat_connect.data.texts import Texts
from copycat_connect.data.unreadable import UnreadableRecord
from copycat_connect.data.validation import validate_value
from copycat_connect.data.value import ConnectValue

__all__ = [
    "BOOLEAN_SCHEMA",
    "BYTES_SCHEMA",
    "DATE_SCHEMA",
    "FLOAT32_SCHEMA",
    "FLOAT64_SCHEMA",
    "INT8_SCHEMA",
    "INT16_SCHEMA",
    "INT32_SCHEMA",
    "INT64_SCHEMA",
    "NULL",
    "OPTIONAL_BOOLEAN_SCHEMA",
    "OPTIONAL_BYTES_SCHEMA",
    "OPTIONAL_DATE_SCHEMA",
    "OPTIONAL_FLOAT32_SCHEMA",
    "OPTIONAL_FLOAT64_SCHEMA",
    "OPTIONAL_INT8_SCHEMA",
    "OPTIONAL_INT16_SCHEMA",
    "OPTIONAL_INT32_SCHEMA",
    "OPTIONAL_INT64_SCHEMA",
    "OPTIONAL_STRING_SCHEMA",
    "OPTIONAL_TIMESTAMP_SCHEMA",
    "OPTIONAL_TIME_SCHEMA",
    "STRING_SCHEMA",
    "TIMESTAMP_SCHEMA",
    "TIME_SCHEMA",
    "ConnectRecord",
    "ConnectValue",
    "FarDate",
    "FarTimestamp",
    "Field",
    "Header",
    "Headers",
    "MapColumn",
    "MapColumns",
    "RecordMetadata",
    "Schema",
    "SchemaAndValue",
    "SchemaBuilder",
    "SchemaBuilderError",
    "SchemaProjectionError",
    "SchemaType",
    "SinkBatch",
    "SinkRecord",
    "SourceBatch",
    "SourceRecord",
    "Struct",
    "StructColumn",
    "StructColumns",
    "Texts",
    "TimestampType",
    "TopicPartition",
    "UnreadableRecord",
    "decimal_schema",
    "project",
    "validate_value",
]
