"""Streams and events on host threads, for backends whose device works there, and the host's memory beside a device.

`queue` runs the work of `stream`.
"""
