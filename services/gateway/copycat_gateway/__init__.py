"""The gateway: Kafka Connect's REST interface."""
