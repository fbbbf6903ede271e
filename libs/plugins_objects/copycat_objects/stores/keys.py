"""The keys that say which store, shared by the connectors that read and write objects."""

from __future__ import annotations

from copycat_connect.config import BOOLEAN, HIGH, INT, LOW, MEDIUM, PASSWORD, STRING, ConfigKey, at_least

STORE_URL, HDFS_URL = "store.url", "hdfs.url"
WEBHDFS_URL, HDFS_USER, HADOOP_CONF = "webhdfs.url", "hdfs.user", "hadoop.conf.dir"
BUCKET, REGION, PART_SIZE, PART_RETRIES = (
    "s3.bucket.name", "s3.region", "s3.part.size", "s3.part.retries"
)  # fmt: skip
ACCESS_KEY, SECRET_KEY = "aws.access.key.id", "aws.secret.access.key"
ENCRYPTION, KMS_KEY, ACL = "s3.ssea.name", "s3.sse.kms.key.id", "s3.acl.canned"
PATH_STYLE, ENDPOINT = "s3.path.style.access.enabled", "s3.endpoint"

WEBHDFS_URL_KEY = ConfigKey(
    WEBHDFS_URL, STRING, LOW, default=None,
    doc="Address of the NameNode's web interface, http://host:port; by default port 9870 of the host in the "
    "address of HDFS.",
)  # fmt: skip
HADOOP_CONF_KEY = ConfigKey(
    HADOOP_CONF, STRING, HIGH, default="",
    doc="Folder with hdfs-site.xml, which tells the address of the NameNode's web interface where "
    "webhdfs.url does not; without it the folder that HADOOP_CONF_DIR of the worker's environment names.",
)  # fmt: skip
HDFS_USER_KEY = ConfigKey(
    HDFS_USER, STRING, LOW, default=None,
    doc="Whom to be in HDFS; by default HADOOP_USER_NAME of the worker's environment, or the user this "
    "process runs as.",
)  # fmt: skip
ENDPOINT_KEY = ConfigKey(
    ENDPOINT, STRING, LOW, default=None,
    doc="Address of another server that speaks S3, http://host:port, where the store is s3://bucket.",
)  # fmt: skip
REGION_KEY = ConfigKey(REGION, STRING, MEDIUM, default="us-west-2", doc="The AWS region of the bucket.")
PART_SIZE_KEY = ConfigKey(
    PART_SIZE, INT, HIGH, default=26_214_400, validator=at_least(5 << 20),
    doc="Bytes of a part of an upload; so much is kept in memory for each open file.",
)  # fmt: skip
PART_RETRIES_KEY = ConfigKey(
    PART_RETRIES, INT, MEDIUM, default=3, validator=at_least(0),
    doc="How often a call of S3 is made again at once before it counts as failed.",
)  # fmt: skip
ACCESS_KEY_KEY = ConfigKey(
    ACCESS_KEY, STRING, HIGH, default="",
    doc="Whom to be at S3; empty looks for a role or a profile of AWS on this machine.",
)  # fmt: skip
SECRET_KEY_KEY = ConfigKey(
    SECRET_KEY, PASSWORD, HIGH, default="", doc="The secret of that access key; it is never shown."
)
PATH_STYLE_KEY = ConfigKey(
    PATH_STYLE, BOOLEAN, LOW, default=True,
    doc="Whether the bucket stands in the path of addresses instead of the host's name.",
)  # fmt: skip
