"""The published HDFS sink under its class name and keys."""
