"""Proto messages -> the JSON Kafka Connect returns, field by field."""
