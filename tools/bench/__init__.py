"""Copycat measured against Apache Kafka Connect, side by side on one broker."""
