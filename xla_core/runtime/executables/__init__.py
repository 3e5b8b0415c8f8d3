"""Compiled programs.

`compilation` compiles a program for a client's devices. A `static_executable` has one compilation, which
`device_program` enqueues; a `dynamic_executable` is compiled for each signature. `serialization` writes and reads both.
"""
