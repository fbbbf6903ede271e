"""JSON of Kafka Connect: texts, schemas, envelopes, and the converter that writes them."""
