"""Embedded Apache Kafka: verified jars, a Java runtime, one lean broker."""
