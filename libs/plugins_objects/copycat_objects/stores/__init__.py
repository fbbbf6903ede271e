"""Stores of files that several connectors share: a folder, HDFS, S3."""
