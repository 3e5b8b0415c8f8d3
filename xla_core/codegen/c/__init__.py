"""C from LLVM IR, for processors that LLVM has no target for.

`prepare_ir` runs LLVM's passes that don't depend on a processor, and `translate` writes C::

    text = prepare_ir(module.to_text(), level=2)
    source = translate(text)

The C is C11 without extensions. GCC's and Clang's vectors, alignments and builtins are used where the compiler has
them. The code computes the same bits on every processor, except where the IR allows several results, as `llvm.fmuladd`
does.

The packages, from the lowest one up:

=======================  ====================================================================================
`ir_types`               types of LLVM IR, and what C calls them
`ir_module`              LLVM IR as data
`ir_tokens`              the tokens of LLVM IR, and the types and operands that they spell
`ir_instruction_reader`  instructions from their text
`ir_reader`              a module from its text
`source`                 a C file under construction
`scalars`                operations on scalars, as C expressions
`memory`                 loads, stores, atomics, conversions of bits
`scalar_intrinsics`      LLVM's intrinsics that C computes by an expression, a function or a loop
`intrinsics`             all of LLVM's intrinsics
`functions`              a function: its values, its blocks, its branches
`instructions`           each instruction
`variables`              variables and tables of constants
`translation`            a module
`preparation`            LLVM's passes
=======================  ====================================================================================

An instruction or an intrinsic that isn't translated is an `UnimplementedError` that names it. A new one is an entry in
the table of `instructions`, `scalars`, `scalar_intrinsics` or `intrinsics`.
"""

from xla_core.codegen.c.preparation import prepare_ir
from xla_core.codegen.c.source import CTarget
from xla_core.codegen.c.translation import IMPORT_PREFIX, CSource, translate

__all__ = ["IMPORT_PREFIX", "CSource", "CTarget", "prepare_ir", "translate"]
