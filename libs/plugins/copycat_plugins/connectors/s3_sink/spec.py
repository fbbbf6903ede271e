"""S3Sink: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import ConfigDef

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.s3_sink.s3_keys import s3_keys
from copycat_plugins.connectors.stores import keys as stores

CLASS_NAME = "io.confluent.connect.s3.S3SinkConnector"
TASK_CLASS_NAME = "io.confluent.connect.s3.S3SinkTask"

SUMMARY = (
    "Writes records to objects in S3 as Avro, Parquet, JSON lines, text or bytes, with the keys and names "
    "of the published connector."
)
GUARANTEES = (
    "At least once, and exactly once into objects as long as the records alone say where an object ends: "
    "with the default or the field partitioner and `flush.size`, or with a time partitioner, the "
    "extractor Record or RecordField and `rotate.interval.ms`, while the keys about folders and schemas "
    "stay as they are. An object appears whole, under the name `<topics.dir>/<topic>/<folder of the "
    "partitioner>/<topic>+<partition>+<first offset><extension>`; its records count as delivered when the "
    "consumer group's offset is committed behind it. After a crash in between, the same records are read "
    "again and replace the same objects. By the clock (Wallclock, `rotate.schedule.interval.ms`) objects "
    "may end elsewhere the second time, so that records can be in two. There is nothing beside the "
    "objects: whoever alters the group's offsets has records written again. "
    "`delivery.guarantee=exactly_once` is offered by ObjectSinkConnector, which keeps a commit log in the "
    "bucket. Tested with moto's server, a simulator."
)
CONFIG = ConfigDef(*s3_keys())
EXAMPLES = {
    "Avro, a thousand records an object": {
        "topics": "orders",
        stores.BUCKET: "warehouse",
        stores.REGION: "eu-central-1",
        keys.FLUSH_SIZE: "1000",
    },
    "Parquet by the hour of the records, on a server of one's own": {
        "topics": "orders",
        stores.STORE_URL: "http://minio:9000",
        stores.BUCKET: "warehouse",
        stores.ACCESS_KEY: "writer",
        stores.SECRET_KEY: "${env:S3_SECRET}",
        "storage.class": "io.confluent.connect.s3.storage.S3Storage",
        keys.FORMAT: "io.confluent.connect.s3.format.parquet.ParquetFormat",
        keys.FLUSH_SIZE: "1000000",
        keys.ROTATE_INTERVAL: "600000",
        keys.PARTITIONER: "io.confluent.connect.storage.partitioner.HourlyPartitioner",
        keys.LOCALE: "en",
        keys.TIMEZONE: "UTC",
        keys.EXTRACTOR: "Record",
    },
}
