"""Passes that order instructions and prepare buffer assignment."""
