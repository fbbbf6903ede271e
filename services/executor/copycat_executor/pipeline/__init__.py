"""The record path: read, convert, transform, tolerate, deliver; plain Python without Spark or gRPC."""
