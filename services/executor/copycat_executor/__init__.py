"""The executor service: runs connectors and tasks on Spark."""
