"""Chip: the figures of a GPU by which programs are planned, and the chips that are known by name."""

from __future__ import annotations

import dataclasses
import math

from xla_backend_gpu.processors import processor_number
from xla_core.errors import InvalidArgumentError


@dataclasses.dataclass(frozen=True, slots=True)
class _Rates:
    """Operations of a multiprocessor in a cycle; a multiply-add is two.

    Attributes:
        f32, f64: without tensor cores, except that f64 counts them where they have it.
        matrix: products of 16-bit floats by tensor cores.
    """

    f32: int
    matrix: int
    f64: int


_RATES = {
    75: _Rates(128, 1024, 4),
    80: _Rates(128, 2048, 128),
    **dict.fromkeys((86, 87, 88, 89), _Rates(256, 1024, 4)),
    90: _Rates(256, 4096, 256),
    100: _Rates(256, 8192, 128),
    **dict.fromkeys((103, 110), _Rates(256, 8192, 4)),
    **dict.fromkeys((120, 121), _Rates(256, 1024, 4)),
}
"""Compute capability -> the rates of its multiprocessors."""


@dataclasses.dataclass(frozen=True, slots=True)
class Chip:
    """A GPU.

    Attributes:
        name: what users call it.
        processor: its processor, by LLVM's name.
        multiprocessors: their number.
        threads: the most threads that a multiprocessor runs at once.
        clock_hz: cycles of a multiprocessor a second.
        memory_bandwidth: bytes that the memory moves a second.
    """

    name: str
    processor: str
    multiprocessors: int
    threads: int
    clock_hz: float
    memory_bandwidth: float

    @property
    def resident_threads(self) -> int:
        """The most threads that the chip runs at once."""
        return self.multiprocessors * self.threads

    @property
    def units(self) -> int:
        """`ParallelModel.units`: four for each multiprocessor.

        Their number is rounded to a power of two, into which arrays are divided evenly.
        """
        return 4 * _power_of_two(self.multiprocessors)

    @property
    def _rates(self) -> _Rates:
        number = processor_number(self.processor)
        return _RATES[max((known for known in _RATES if known <= number), default=min(_RATES))]

    @property
    def cycles(self) -> float:
        """Cycles of all multiprocessors a second."""
        return self.multiprocessors * self.clock_hz

    @property
    def instructions(self) -> float:
        """Instructions of f32 that threads execute a second."""
        return self.cycles * self._rates.f32 / 2

    @property
    def byte_instructions(self) -> float:
        """Instructions of f32 that take as long as moving one byte, as a power of two: costs are no finer."""
        return _power_of_two(self.instructions / self.memory_bandwidth)

    def product_operations(self, sums: str, operand_bytes: int) -> float:
        """Returns the operations a second of a product with the fastest units, where a multiply-add is two.

        Args:
            sums: the type in which products are added; "tf32" for sums in f32 of operands that are rounded to tf32.
            operand_bytes: the size of an operand's element.
        """
        rates = self._rates
        if sums == "f64":
            rate = rates.f64
        elif sums == "tf32":
            rate = rates.matrix // 2 if processor_number(self.processor) >= 80 else rates.f32
        elif sums == "f32" and operand_bytes > 2:
            rate = rates.f32
        else:
            rate = rates.matrix * (2 if operand_bytes == 1 else 1)
        return self.cycles * rate


def _power_of_two(value: float) -> int:
    """Returns the power of two that is nearest on a logarithmic scale; at least 1."""
    return 1 << max(0, round(math.log2(value)))


CHIPS = {
    chip.name: chip
    for chip in (
        Chip("t4", "sm_75", 40, 1024, 1.59e9, 320e9),
        Chip("a100", "sm_80", 108, 2048, 1.41e9, 2039e9),
        Chip("a10", "sm_86", 72, 1536, 1.695e9, 600e9),
        Chip("l4", "sm_89", 58, 1536, 2.04e9, 300e9),
        Chip("l40s", "sm_89", 142, 1536, 2.52e9, 864e9),
        Chip("h100", "sm_90", 132, 2048, 1.755e9, 3.35e12),
        Chip("h200", "sm_90", 132, 2048, 1.755e9, 4.8e12),
        Chip("b200", "sm_100", 148, 2048, 1.965e9, 8e12),
        Chip("rtx5090", "sm_120", 170, 1536, 2.407e9, 1792e9),
    )
}
"""Chips by their names, with the figures of NVIDIA's data sheets. The A100 is that of 80 GB with SXM, as are the others
for servers.
"""

DEFAULT = CHIPS["h100"]
"""The chip for which programs are compiled where there is no device."""


def chip_like(processor: str) -> Chip:
    """Returns the known chip whose processor is the newest that isn't newer than this one; at least the oldest chip."""
    by_age = sorted(CHIPS.values(), key=lambda chip: processor_number(chip.processor), reverse=True)
    number = processor_number(processor)
    return next((chip for chip in by_age if processor_number(chip.processor) <= number), by_age[-1])


def chip_named(name: str) -> Chip:
    """Returns the chip of a name.

    Raises:
        InvalidArgumentError: no chip has it.
    """
    if name not in CHIPS:
        raise InvalidArgumentError(f"no chip is known as {name!r}", hint=f"chips are {', '.join(CHIPS)}")
    return CHIPS[name]
