"""Passes over loops and branches."""
