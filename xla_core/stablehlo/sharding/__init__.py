"""Meshes, Shardy's shardings, and the protos of `mhlo.sharding`: read from attributes into plain values."""
