"""Runs a schedule of thunks, for backends: `thunk_executor` enqueues each kind, `thunk_run` is the state of one run."""
