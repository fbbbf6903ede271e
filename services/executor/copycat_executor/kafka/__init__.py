"""Kafka clients of tasks: producers, consumers, admins, their settings, remedies for what Kafka refuses."""
