"""The HDFS sink as KIP-26 shows it in its sample of an application."""
