"""The order of execution, and what buffers then need."""
