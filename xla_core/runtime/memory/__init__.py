"""Memory of a device: `allocator` pools it, `idle_memory` returns what nobody uses any longer to the device, and
`memory_stats` says what it is used for.
"""
