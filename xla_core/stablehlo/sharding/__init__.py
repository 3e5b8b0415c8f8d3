"""Meshes, Shardy's shardings and `mhlo.sharding`, parsed from attributes."""
