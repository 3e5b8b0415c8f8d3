"""plot_accesses: draws which block and which thread of a launch uses each element of its arrays."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.counting import ObservedLaunch
from xla_core.errors import InvalidArgumentError, UnavailableError
from xla_core.hlo import Shape

_MOST_ELEMENTS = 1 << 22


def first_users(launch: ObservedLaunch, index: int, shape: Shape, *, store: bool) -> npt.NDArray[np.int64]:
    """Returns, for each element of a buffer, the thread that uses it first: its number in the grid, or -1 for none.

    Args:
        index: which of the kernel's buffers: first the operands, then the results.
        shape: the array's shape. The result has its dimensions; elements are row-major.
        store: whether stores count, or loads.
    """
    users = np.full(shape.num_elements, -1, np.int64)
    size = shape.byte_size // max(1, shape.num_elements)
    first = launch.arguments.addresses[index]
    for access in reversed(launch.accesses):
        if access.store != store:
            continue
        offsets = access.addresses.astype(np.int64) - first
        inside = (offsets >= 0) & (offsets < shape.byte_size)
        elements = offsets[inside, None] // size + np.arange(max(1, access.size // size))
        users[elements] = access.threads[inside, None]
    return users.reshape(shape.dimensions)


def plot_accesses(launch: ObservedLaunch, file: str | Path | IO[bytes]) -> None:
    """Draws the arrays of a launch, the operands and then the results, to a file (.png, .svg, .pdf).

    The upper row shows the block that uses an element first, the lower row the thread within the block. Operands are
    loaded and results are stored. An array of more than two dimensions is drawn as rows of its last dimension. White
    elements are not used.

    Raises:
        UnavailableError: matplotlib is not installed.
        InvalidArgumentError: an array is too large to be drawn, or the launch computes no instruction.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnavailableError(
            "pictures need matplotlib, which is not installed", hint="pip install 'xla-backend-gpu[pictures]'"
        ) from error

    instruction = launch.arguments.instruction
    if instruction is None:
        raise InvalidArgumentError(f"{launch.kernel} computes no instruction, so its arrays have no shapes")
    operands = [operand.shape for operand in instruction.operands]
    results = list(instruction.shape.array_leaves())
    shapes = [(shape, False) for shape in operands] + [(shape, True) for shape in results]
    if max((shape.num_elements for shape, _ in shapes), default=0) > _MOST_ELEMENTS:
        raise InvalidArgumentError(
            f"an array of {launch.kernel} has more than {_MOST_ELEMENTS} elements", hint="observe a smaller program"
        )
    threads = math.prod(launch.arguments.threads)
    figure = Figure(figsize=(1 + 2.6 * len(shapes), 5.2), layout="constrained")
    axes = figure.subplots(2, len(shapes), squeeze=False)
    blocks_map, threads_map = mpl.colormaps["tab20"], mpl.colormaps["viridis"]
    drawn: Any = None
    for column, (shape, store) in enumerate(shapes):
        users = first_users(launch, column, shape, store=store)
        picture = users.reshape(-1, shape.dimensions[-1] if shape.dimensions else 1)
        unused = picture < 0
        blocks = np.ma.masked_array(picture // threads % blocks_map.N, unused)
        within = np.ma.masked_array(picture % threads, unused)
        upper, lower = axes[0][column], axes[1][column]
        upper.imshow(blocks, cmap=blocks_map, vmin=0, vmax=blocks_map.N - 1, aspect="auto", interpolation="nearest")
        drawn = lower.imshow(within, cmap=threads_map, vmin=0, vmax=threads - 1, aspect="auto", interpolation="nearest")
        upper.set_title(f"{'result' if store else f'operand {column}'}\n{shape.without_layout()}", fontsize=9)
        for axis in (upper, lower):
            axis.tick_params(labelsize=7)
            if len(picture) == 1:
                axis.set_yticks([])
    axes[0][0].set_ylabel("block", fontsize=9)
    axes[1][0].set_ylabel("thread of the block", fontsize=9)
    figure.colorbar(drawn, ax=list(axes[1]), shrink=0.8).ax.tick_params(labelsize=7)
    figure.savefig(file, dpi=110)
