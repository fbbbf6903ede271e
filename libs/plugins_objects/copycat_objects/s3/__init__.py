"""The published S3 sink under its class name and keys."""
