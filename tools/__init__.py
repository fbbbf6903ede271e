"""What people and machines run beside the product."""
