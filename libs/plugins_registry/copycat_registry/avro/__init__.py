"""AvroConverter: Connect's data model in Avro, with its schemas in a registry."""
