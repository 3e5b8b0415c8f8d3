"""Arrays on a device. `buffer` is what users see, `buffer_writer` writes one in parts, and `dlpack` shares one.

`tracked_buffer` has its memory, its definition event and its users: the protocol for code that enqueues work.
"""
