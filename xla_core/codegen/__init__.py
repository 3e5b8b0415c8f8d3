"""Code generation: `loop_plan` plans the loops of kernels, `llvm` emits them for every LLVM target."""

__all__: list[str] = []
