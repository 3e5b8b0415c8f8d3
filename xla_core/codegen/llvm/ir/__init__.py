"""LLVM IR as text: how element types are held, values, blocks, functions and modules, and a builder of instructions.

Code here knows LLVM, and of HLO the element types alone. It imports nothing else of `codegen`.
"""
