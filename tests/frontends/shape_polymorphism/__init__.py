"""JAX functions exported with symbolic shapes, run here for several shapes and compared with JAX."""
