"""Where the config service meets Kafka's record bytes and gRPC."""
