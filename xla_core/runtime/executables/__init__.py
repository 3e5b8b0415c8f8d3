"""Compiled programs.

`compilation` compiles a program for a client's devices. A `static_executable` has one compilation, which
`device_program` enqueues; a `dynamic_executable` is compiled for each signature. `serialization` writes and reads both.
`loaded_executable` is the class of both, `specialization_cache` keeps the compilations of dynamic ones, and
`sized_results` gives results of dynamic sizes their sizes.
"""
