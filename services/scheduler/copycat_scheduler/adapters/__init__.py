"""The scheduler's edge: log records, gRPC, what it watches, and the loop that keeps planning."""
