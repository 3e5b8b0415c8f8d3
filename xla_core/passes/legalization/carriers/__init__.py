"""Makes a program compute only in element types in which the target computes."""

from xla_core.passes.legalization.carriers.complex_pairs import ComplexPairs
from xla_core.passes.legalization.carriers.constants_of_lacking_types import ConstantsOfLackingTypes
from xla_core.passes.legalization.carriers.element_type_carrier import ElementTypeCarrier
from xla_core.passes.pass_manager import HloPass
from xla_core.target import Capabilities

__all__ = ["ComplexPairs", "ConstantsOfLackingTypes", "ElementTypeCarrier", "carrier_passes"]


def carrier_passes(capabilities: Capabilities) -> list[HloPass]:
    """The passes that precede legalization."""
    return [ConstantsOfLackingTypes(capabilities), ComplexPairs(capabilities), ElementTypeCarrier(capabilities)]
