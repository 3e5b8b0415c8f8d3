"""The version of the distribution xla-core."""

__version__ = "0.1.0"
