"""Passes that write an op in other ops."""
