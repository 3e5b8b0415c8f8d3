"""The tests, one file a group. They use only the contract and public names, so they run on any backend."""
