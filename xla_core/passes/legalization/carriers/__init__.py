"""Makes a program compute only in element types in which the target computes."""

from xla_core.passes.legalization.carriers.complex_pairs import ComplexPairs
from xla_core.passes.legalization.carriers.constants_of_lacking_types import ConstantsOfLackingTypes
from xla_core.passes.legalization.carriers.element_type_carrier import ElementTypeCarrier
from xla_core.passes.legalization.carriers.integer_narrower import IntegerNarrower
from xla_core.passes.pass_manager import HloPass
from xla_core.target import TargetConfig

__all__ = ["ComplexPairs", "ConstantsOfLackingTypes", "ElementTypeCarrier", "IntegerNarrower", "carrier_passes"]


def carrier_passes(target: TargetConfig) -> list[HloPass]:
    """The passes that precede legalization."""
    capabilities = target.capabilities
    return [
        IntegerNarrower(capabilities),
        ConstantsOfLackingTypes(capabilities),
        ComplexPairs(capabilities),
        ElementTypeCarrier(capabilities, target.layouts),
    ]
