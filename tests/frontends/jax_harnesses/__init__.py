"""The programs of JAX's own primitive harness, as JAX exports them, on the evaluator and the CPU backend.

The harness is private to JAX and in its wheel: these tests skip, with the reason, where this JAX has none.
"""
