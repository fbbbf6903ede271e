"""Writes the records of topics to files in a folder, in HDFS or in S3."""
