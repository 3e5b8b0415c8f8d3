"""The op table's entries, a file an op group."""
