"""Code generation. One package a kind of code generator."""

__all__: list[str] = []
