"""Lowers a module whose shapes are static or bounded. Each function becomes a computation."""

from __future__ import annotations

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo.module import HloModule
from xla_core.hlo.verifier import verify_structure
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import ModuleLowering
from xla_core.stablehlo.lower.entry import lower_entry

__all__ = ["entry_function", "lower_static"]


def lower_static(module: ir.Module, function: ir.Op, name: str = "") -> HloModule:
    """Lowers a verified module without unbounded sizes to HLO. `function` is the entry."""
    lowering = ModuleLowering(module, HloModule(name or module.name or str(function.attributes["sym_name"])))
    try:
        lower_entry(lowering, function)
    except RecursionError as error:  # the calling code may be deep in the stack already
        raise ResourceExhaustedError("regions and calls are nested too deeply to be lowered") from error
    verify_structure(lowering.hlo)  # shapes need no check: the op table has just inferred them
    return lowering.hlo


def entry_function(module: ir.Module, entry: str | None = None) -> ir.Op:
    """Returns the entry function: the one named `entry`, else `main`, else the only public function.

    Raises InvalidArgumentError if there is no such function.
    """
    if entry is not None or "main" in module.functions:
        try:
            return module.functions[entry or "main"]
        except (KeyError, TypeError):
            raise InvalidArgumentError(
                f"the module has no function @{entry}", hint=f"it has {', '.join('@' + n for n in module.functions)}"
            ) from None
    public = [f for f in module.functions.values() if f.attributes.get("sym_visibility", "public") != "private"]
    if not module.functions:
        raise InvalidArgumentError("the program is empty: it has no function", hint="it needs a function @main")
    if len(public) != 1:
        raise InvalidArgumentError(
            f"the module has no function @main and {len(public)} public functions",
            location=next((f.location for f in public or module.functions.values()), None),
            hint="name the entry function main, or make all others private",
        )
    return public[0]
