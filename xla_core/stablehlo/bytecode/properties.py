"""The order of the attributes in the properties of an op: their names sorted, the optional ones flagged.

Source: llvm-project, mlir/tools/mlir-tblgen (the code that it generates for BytecodeOpInterface).
"""

from __future__ import annotations

import functools

from xla_core.stablehlo.table.op_table import OPS, REQUIRED
from xla_core.stablehlo.table.other_dialects import OTHER_OPS
from xla_core.stablehlo.vhlo.ops import vhlo_ops

_CALL = "arg_attrs? res_attrs? no_inline?"
"""The properties of func.call that are not in the op table."""

Layout = tuple[tuple[str, bool], ...]
"""The (attribute, whether it is optional) pairs of an op, in the order of its properties."""


@functools.cache
def layouts(name: str) -> tuple[Layout, ...]:
    """Returns the possible layouts of an op's properties, the newest first; an unknown op has none."""
    if name.startswith("vhlo."):
        vhlo = vhlo_ops().get(name)
        return (tuple([(attribute, False) for attribute in vhlo.attributes]),) if vhlo is not None else ()
    if name in OPS:
        attributes = OPS[name].attributes
        found = {key: attribute.default is not REQUIRED for key, attribute in attributes.items()}
        newer = {key for key, attribute in attributes.items() if attribute.since > 1}
        if name == "func.call":
            found.update(_words(_CALL))
    else:
        properties = OTHER_OPS[name].properties if name in OTHER_OPS else None
        if properties is None:
            return ()
        found, newer = dict(_words(properties)), set()
    newest = tuple(sorted(found.items()))
    return (newest, tuple(item for item in newest if item[0] not in newer)) if newer else (newest,)


def _words(text: str) -> list[tuple[str, bool]]:
    return [(word.rstrip("?"), word.endswith("?")) for word in text.split()]
