"""Memory of a device: `allocator` pools it, `idle_memory` returns unused memory to the device, and `memory_stats`
reports its use.
"""
