"""The offset service's edge: log records, gRPC, consumer groups, the scheduler's watch."""
