"""The op tree: types, attributes, values, ops, regions, modules.

The other packages of `stablehlo` import this one as `ir`, and it imports none of them. The op table defines what an op
means.
"""

from __future__ import annotations

from xla_core.stablehlo.ir import attributes, op, structures, types
from xla_core.stablehlo.ir.attributes import *  # noqa: F403
from xla_core.stablehlo.ir.op import *  # noqa: F403
from xla_core.stablehlo.ir.structures import *  # noqa: F403
from xla_core.stablehlo.ir.types import *  # noqa: F403

__all__: list[str] = []
__all__ += attributes.__all__
__all__ += op.__all__
__all__ += structures.__all__
__all__ += types.__all__
