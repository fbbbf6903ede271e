"""JsonSchemaConverter: Connect's data model in JSON, with its JSON Schemas in a registry."""
