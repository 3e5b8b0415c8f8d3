"""Passes that simplify a program for every target."""
