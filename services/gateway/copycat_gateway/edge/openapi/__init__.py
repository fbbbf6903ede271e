"""The OpenAPI document: what no framework can know of the interface, and a page of it."""
