"""SchemaSource: structs of one schema, or of two in turn."""
