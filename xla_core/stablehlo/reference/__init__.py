"""The reference of ops for `xla ops` and the documentation, and an example program of each op."""
