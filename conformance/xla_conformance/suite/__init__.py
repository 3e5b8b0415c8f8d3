"""The tests: a file a group. They use the contract and xla_core's public names alone, so they run on any backend."""
