"""`copycat migrate`: what of a cluster of Apache Kafka Connect runs here, and what does not."""
