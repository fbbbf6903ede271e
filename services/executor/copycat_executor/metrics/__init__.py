"""What this worker, its connectors and its tasks measure, in the names of Kafka Connect's metrics."""
