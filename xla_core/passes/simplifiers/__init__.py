"""Passes that make a program smaller, on any target."""
