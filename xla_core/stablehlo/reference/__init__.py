"""What the documentation says of an op, read from its entry in the op table, and an example program of each op."""
