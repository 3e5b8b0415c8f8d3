"""The structured values of instruction attributes, as in XLA's protos. All are immutable and hashable."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from xla_core.errors import SourceLocation


@dataclasses.dataclass(frozen=True, slots=True)
class WindowDimension:
    """One dimension of a window. (XLA: WindowDimension.)"""

    size: int = 1
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    window_reversal: bool = False

    @property
    def dilated_size(self) -> int:
        """The extent of the window with its dilation, in elements of the dilated base."""
        return (self.size - 1) * self.window_dilation + 1 if self.size else 0

    @property
    def is_trivial(self) -> bool:
        """Whether windows have one element, and there is one at each index."""
        plain = self.size == self.stride == self.base_dilation == 1
        return plain and self.padding_low == self.padding_high == 0

    @property
    def padding(self) -> PaddingDimension:
        """The padding by which a `pad` applies the window's padding and base dilation."""
        return PaddingDimension(self.padding_low, self.padding_high, self.base_dilation - 1)

    def element(self, position: int, count: int) -> SliceDimension:
        """The slice of a padded dimension that the window's element at `position` reads in `count` windows."""
        start = (self.size - 1 - position if self.window_reversal else position) * self.window_dilation
        return SliceDimension(start, start + (count - 1) * self.stride + 1 if count else start, self.stride)

    def output_size(self, base: int) -> int:
        """The number of windows that fit over `base` elements."""
        padded = self.padding_low + ((base - 1) * self.base_dilation + 1 if base else 0) + self.padding_high
        return 0 if padded < self.dilated_size else (padded - self.dilated_size) // self.stride + 1


Window = tuple[WindowDimension, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class ConvolutionDimensionNumbers:
    """Assigns meanings to the dimensions of a convolution's input, kernel and output.

    HLO text: `dim_labels=b01f_01io->b01f`.
    """

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class SliceDimension:
    """One dimension of a slice. HLO text: `[start:limit:stride]`."""

    start: int
    limit: int
    stride: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class PaddingDimension:
    """Edge padding (negative values crop) and interior padding of one dimension. HLO text: `low_high_interior`."""

    low: int
    high: int
    interior: int = 0


ReplicaGroups = tuple[tuple[int, ...], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class OutputToOperandAlias:
    """The result at `output_index` shares the buffer of the operand at `operand_index`. HLO text: `{0}: (1, {})`."""

    output_index: tuple[int, ...]
    operand_number: int
    operand_index: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class OpMetadata:
    """The source of an instruction. (XLA: OpMetadata.) `op_name` is the frontend's name stack.

    `text_location` computes the place in the program's text, which stands in for a source file that isn't known.
    """

    op_type: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0
    source_column: int = 0
    text_location: Callable[[], SourceLocation] | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def location(self) -> SourceLocation | None:
        """The source location, or None where it is not known. Without a file, it is a place in the program's text."""
        if not (self.source_file or self.source_line or self.op_name):
            return None
        return SourceLocation(self.source_file, self.source_line, self.source_column, self.op_name)


MIRRORED_DIRECTION = {"EQ": "EQ", "NE": "NE", "LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
"""The direction of a compare whose operands are swapped."""
