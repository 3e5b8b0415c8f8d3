"""Speed against JAX's own CPU compiler: `python -m benchmarks.run`."""
