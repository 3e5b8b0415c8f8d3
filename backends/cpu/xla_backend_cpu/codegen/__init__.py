"""Machine-code emission of what the shared emitter leaves to the CPU: products, convolutions, the whole module."""
