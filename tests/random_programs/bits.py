"""Steps on bits: bitcasts, random bits, and random numbers, of which only the range is compared."""

from __future__ import annotations

import math

from tests.random_programs.steps import Steps
from xla_core.hlo import ElementType, Shape

_RANDOM = (ElementType.U8, ElementType.U16, ElementType.U32, ElementType.U32, ElementType.U64, ElementType.S8,
           ElementType.S16, ElementType.S32, ElementType.S64, ElementType.U4, ElementType.S4, ElementType.U2,
           ElementType.F32, ElementType.F64, ElementType.F16, ElementType.BF16)  # fmt: skip


class BitSteps(Steps):
    all_types: tuple[ElementType, ...]

    def kinds(self):
        return [*super().kinds(), self.bitcast_convert, self.bitcast_convert, self.rng_bit_generator, self.random]

    def bitcast_convert(self) -> None:
        """Adds a bitcast of values whose bits are known."""
        x = self.pick(lambda v: (v.bits or v.type.is_integral) and v.type is not ElementType.PRED)
        if x is None:
            return
        width, sizes = x.type.bit_width, x.shape.dimensions
        # Floats of any bits may be denormals, which XLA flushes; and it ends at complex numbers of two widths.
        wanted = [t for t in self.all_types if t is not ElementType.PRED and t.is_complex == x.type.is_complex
                  and (self.strict or t.is_integral or t is x.type)]  # fmt: skip
        fits = [t for t in wanted if t.bit_width == width]
        if width > 2:
            fits += [t for t in wanted if t.bit_width < width and width % t.bit_width == 0]
        if sizes:
            fits += 3 * [t for t in wanted if t.bit_width == width * sizes[-1] and sizes[-1] > 1]
        if not fits:
            return
        kind = self.rng.choice(fits)
        target = sizes
        if kind.bit_width < width:
            target = (*sizes, width // kind.bit_width)
        elif kind.bit_width > width:
            target = sizes[:-1]
        made = self.c.add("bitcast-convert", x.instruction, shape=Shape.array(kind, target))
        self.keep(made, math.inf, bits=True)

    def rng_bit_generator(self) -> None:
        algorithm = self.rng.choice(["rng_default", "rng_three_fry", "rng_philox"])
        words = 2 if algorithm == "rng_three_fry" else self.rng.choice([2, 3])
        shape = Shape.array(ElementType.U64, [words])
        state = self.pick(lambda v: v.shape.without_layout() == shape) or self.constant(shape)
        sizes = [self.rng.choice([1, 2, 3, 4, 5, 8, 33]) for _ in range(self.rng.randint(0, 2))]
        kinds = (
            _RANDOM if self.strict else [t for t in _RANDOM if t.is_unsigned and t in self.all_types]
        )  # XLA's bits are all unsigned
        bits = Shape.array(self.rng.choice(kinds), sizes)
        made = self.c.add("rng-bit-generator", state.instruction, shape=Shape.tuple([shape, bits]), algorithm=algorithm)
        for index in range(2):
            self.keep(self.c.add("get-tuple-element", made, index=index), math.inf, bits=True)

    def random(self) -> None:
        """Adds a test whether random numbers are in their range."""
        kinds = (ElementType.F32, ElementType.F64, ElementType.F16, ElementType.BF16, ElementType.S8, ElementType.S16,
                 ElementType.S32, ElementType.S64, ElementType.U8, ElementType.U16, ElementType.U32, ElementType.U64)  # fmt: skip
        kind = self.rng.choice(kinds)
        shape = Shape.array(kind, [self.rng.randint(1, 40)])
        low, high = self.rng.choice([(0, 1), (1, 3), (0, 100)])
        ends = [self.scalar(low, kind), self.scalar(high, kind)]
        if kind.is_floating and self.rng.random() < 0.3:
            made = self.c.add("rng", *ends, shape=shape, distribution="rng_normal")
            self.keep(self.c.add("is-finite", made), 1)
            return
        made = self.c.add("rng", *ends, shape=shape, distribution="rng_uniform")
        least = self.c.add("compare", made, self.filled(low, shape), direction="GE")
        most = self.c.add("compare", made, self.filled(high, shape), direction="LT")
        self.keep(self.c.add("and", least, most), 1)
