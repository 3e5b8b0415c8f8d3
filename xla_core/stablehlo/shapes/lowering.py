"""Lowers any program. A program with unbounded sizes is refined first."""

from __future__ import annotations

from xla_core.hlo.ir.module import HloModule
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import body_of
from xla_core.stablehlo.lower.entry import entry_function, lower_static
from xla_core.stablehlo.shapes.refine import has_dynamic_types, refine
from xla_core.stablehlo.verify.verifier import verify


def lower(module: ir.Module, entry: str | None = None, *, entry_shards: bool = False) -> HloModule:
    """The HLO of a verified module.

    Args:
        module: a module that `verify` accepted. The entry's arguments have static or bounded types. Other dynamic
            sizes must follow from these and from constants; `refine` computes them.
        entry: the function to start with; `main`, or the only public function, where none is named.
        entry_shards: whether the entry's parameters and results are one device's shards, as their Shardy shardings say
            (PJRT's convention), rather than whole tensors.

    Private functions become computations that `call` names. Entry parameters and results are flat: tuples are taken
    apart, tokens vanish; more than one result makes a tuple root. Raises InvalidArgumentError or UnimplementedError,
    with the op's location, for ops and types that HLO lacks.
    """
    ir.require_module(module)
    function = entry_function(module, entry)
    body_of(function)
    if has_dynamic_types(module):
        module = refine(module, entry=str(function.attributes["sym_name"]))
        verify(module)
        function = next(iter(module.functions.values()))
    return lower_static(module, function, module.name or entry or "", entry_shards=entry_shards)
