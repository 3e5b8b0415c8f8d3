"""Compares results with the reference evaluator's and prints the differences: `xla run --check` and `xla replay`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from xla_core.errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from xla_core.hlo import ElementType, HloModule
    from xla_core.hlo.values.literal_comparison import Tolerance


def exact_results(module: HloModule) -> list[bool]:
    """Says of each result whether all ops that it depends on have the same value on every correct device."""
    from xla_core.analysis.nondeterminism import find_inexact

    return [not inexact for inexact in find_inexact(module).results]


def tolerance_for(element_type: ElementType, exact: bool = False) -> Tolerance:
    """The tolerance for results of two correct compilations, which may differ in the order of sums and in fusion.

    Integers and pred must be equal, and so must the results of `exact` ops. Other floats may differ by 4 ULP, or by
    some thousand roundings of the largest element.
    """
    import numpy as np

    from xla_core.hlo.values.literal_comparison import Tolerance

    element_type = element_type.component
    if exact or not element_type.is_floating:
        return Tolerance()
    one = np.ones((), element_type.dtype)
    eps = float(np.nextafter(one, one + one).astype(np.float64)) - 1
    relative = min(1000 * eps, 2 * eps**0.5)
    return Tolerance(ulp=4, rtol=relative, scaled=relative)


def describe_tolerances(results: Sequence[np.ndarray], exact: Sequence[bool]) -> str:
    """Says for each element type of the results how much they may differ."""
    from xla_core.hlo import ElementType

    texts = []
    for result, equal in zip(results, exact, strict=True):
        kind = ElementType.from_numpy(result.dtype)
        why = ", as no op rounds differently" if equal and kind.component.is_floating else ""
        texts.append(f"{kind} {tolerance_for(kind, equal)}{why}")
    return "; ".join(dict.fromkeys(texts))


def check_results(
    console: Console,
    actual: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    places: Sequence[str] = (),
    random: Collection[int] = (),
    vectors: Collection[int] = (),
    exact: Sequence[bool] = (),
) -> bool:
    """Prints a line for each result and returns whether all are right.

    Args:
        places: names of the results; by default their numbers.
        random: numbers of results that depend on random numbers; only their types and sizes are compared.
        vectors: numbers of results that depend on eigenvectors or singular vectors. Their rows, or columns, may have
            other signs, or phases if they are complex.
        exact: for each result, whether it must be equal. By default none must.
    """
    from rich.table import Table

    from xla_core.hlo import ElementType
    from xla_core.hlo.values.literal_comparison import compare_arrays

    if len(actual) != len(expected):
        raise InvalidArgumentError(
            f"the program has {len(actual)} results, but the reference evaluator has {len(expected)}"
        )
    exact = exact or [False] * len(expected)
    table = Table("result", "max |difference|", "max ULP", "verdict", box=None, pad_edge=False)
    right, drawn = True, 0
    for index, (have, want) in enumerate(zip(actual, expected, strict=True)):
        place = places[index] if places else str(index)
        element_type = ElementType.from_numpy(want.dtype)
        try:
            difference = compare_arrays(have, want, tolerance_for(element_type, exact[index]))
        except InvalidArgumentError as error:
            table.add_row(place, "", "", f"[red]{error.message}")
            right = False
            continue
        ulp = f"{difference.max_ulp:.3g}" if element_type.is_floating or element_type.is_complex else ""
        figures = (place, f"{difference.max_absolute:.3g}", ulp)
        if difference.equal:
            table.add_row(*figures, "[green]right")
        elif index in vectors and _are_equal_up_to_signs(have, want):
            table.add_row(place, "", "", "[green]right, up to the signs of vectors")
        elif index in random:
            table.add_row(place, "", "", "[yellow]draws random numbers: not comparable")
            drawn += 1
        else:
            at = ",".join(map(str, difference.index or ()))
            where = f"\\[{at}] is {difference.actual}, not {difference.expected}"
            table.add_row(*figures, f"[red]{difference.wrong} of {difference.elements} wrong: {where}")
            right = False
    console.print(table)
    if expected:
        tolerances = describe_tolerances(expected, exact)
        console.print(f"tolerance: {tolerances}", markup=False, highlight=False, soft_wrap=True)
    if not right:
        console.print("[red]differs from the reference evaluator")
    elif drawn == len(actual) > 0:
        console.print("[yellow]only types and sizes are compared with the reference evaluator")
    else:
        rest = " in all results that can be compared" if drawn else ""
        console.print(f"[green]agrees with the reference evaluator{rest}")
    return right


def _are_equal_up_to_signs(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Whether matrices are within the tolerance after each row, or each column, is multiplied by a number of size 1."""
    import numpy as np

    from xla_core.hlo import ElementType
    from xla_core.hlo.values.literal_comparison import compare_arrays

    kind = ElementType.from_numpy(expected.dtype)
    if expected.ndim < 2 or not kind.component.is_floating:
        return False
    wide = np.complex128 if kind.is_complex else np.float64
    have, want = actual.astype(wide), expected.astype(wide)
    for axis in (-2, -1):
        inner = np.sum(np.conj(have) * want, axis, keepdims=True)
        length = np.abs(inner)
        factors = np.where(length > 0, inner / np.where(length > 0, length, 1), 1)
        if compare_arrays((have * factors).astype(expected.dtype), expected, tolerance_for(kind)).equal:
            return True
    return False
