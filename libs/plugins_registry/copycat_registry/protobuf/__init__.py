"""ProtobufConverter: Connect's data model in Protobuf, with its schemas in a registry."""
