"""Passes that simplify loops and branches."""
