"""SparkSink: tables that partitions of Spark write, and its task commits."""
