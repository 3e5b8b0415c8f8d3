"""The bits of the floating formats of 16 bits and less."""

from __future__ import annotations

import dataclasses

from xla_core.hlo.values.element_type import ElementType


@dataclasses.dataclass(frozen=True, slots=True)
class FloatFormat:
    """Bits of a floating format. `special`: "ieee" has infinities and NaNs in the top exponent, "fn" a NaN of all ones
    and no infinity, "fnuz" one NaN where -0 would be and no infinity, "finite" neither.
    """

    exponent_bits: int
    mantissa_bits: int
    bias: int
    special: str

    @property
    def magnitude_bits(self) -> int:
        return self.exponent_bits + self.mantissa_bits

    @property
    def largest(self) -> int:
        """The bits of the largest finite magnitude."""
        top = (1 << self.magnitude_bits) - 1
        if self.special == "ieee":
            return ((1 << self.exponent_bits) - 1 << self.mantissa_bits) - 1
        return top - 1 if self.special == "fn" else top


def _format(kind: ElementType) -> FloatFormat:
    """Returns an element type's format, in part from its name: "uz" is a bias one larger, "b11" a bias of 11."""
    if kind.value.endswith("fnuz"):
        special = "fnuz"
    else:
        special = "ieee" if kind.has_infinity else "fn" if kind.bit_width == 8 else "finite"
    bias = 11 if "b11" in kind.value else (1 << kind.exponent_bits - 1) - (special != "fnuz")
    return FloatFormat(kind.exponent_bits, kind.mantissa_bits, bias, special)


FLOAT_FORMATS = {t: _format(t) for t in ElementType if t.is_floating and t.has_zero and t.bit_width <= 16}
"""F8E8M0FNU, an exponent without sign or mantissa, is treated on its own."""

LEAST_POWER = 2.0**-127
"""The least number of F8E8M0FNU, which positive results become that underflow."""
