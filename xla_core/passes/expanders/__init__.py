"""Passes that rewrite an op in terms of other ops."""
