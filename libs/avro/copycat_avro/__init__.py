"""Avro schemas and values of Kafka Connect's data model."""
