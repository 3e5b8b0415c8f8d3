"""The op table without its entries: opcodes, attributes and traits, and what an attribute may hold.

The entries are in `xla_core.hlo.ops`. `mesh` has device meshes and `backend_config` the text that a backend attaches.
"""
