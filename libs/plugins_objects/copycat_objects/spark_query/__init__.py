"""SparkQuery: SQL over topics, run by Spark, into other topics."""
