"""SparkSource: files of records, read by Spark in as many partitions at once as are wanted."""
