"""Streams and events on host threads, for backends whose device works there, and the host's memory beside a device.

`queue` runs the work of `stream`, `holding_queue` keeps work back for its caller, and `exit` ends all queues with the
process.
"""
