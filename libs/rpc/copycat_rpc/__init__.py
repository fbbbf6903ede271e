"""gRPC servers and channels, error mapping, deadlines, health, reflection."""
