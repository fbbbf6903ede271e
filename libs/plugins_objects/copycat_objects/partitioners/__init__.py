"""Which folder a record's file is in: one module for each way."""
