"""Where the status service meets Kafka's record bytes, gRPC and a log that is away."""
