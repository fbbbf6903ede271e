"""SparkSink: tables and folders of files that partitions of Spark write, and its task commits."""
