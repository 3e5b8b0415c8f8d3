"""Code generators, one package each."""

__all__: list[str] = []
