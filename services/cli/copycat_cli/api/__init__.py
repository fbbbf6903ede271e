"""What the REST interface is asked and what it answers: one module per resource."""
