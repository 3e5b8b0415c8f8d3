"""Instructions, computations and modules.

The other modules build them (`builder`, `entry`, `extractor`), ask them questions (`call_graph`, `combiner`, `effects`,
`host_compute`, `structural_equality`, `structural_key`), print them (`printer`) or draw them (`graph`).
"""
