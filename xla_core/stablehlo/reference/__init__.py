"""The reference of ops that `xla ops` and the documentation show, and an example program of each op."""
