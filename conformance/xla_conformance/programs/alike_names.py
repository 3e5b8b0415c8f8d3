"""Programs whose names of instructions and computations are alike, or mean something to a code generator."""

from __future__ import annotations

from collections.abc import Callable

from xla_conformance.family_program import FamilyProgram

__all__ = ["ALIKE", "program_of_names"]

_WORDS = {
    "less": ("int", "double", "for"),
    "part": ("main", "exp", "memcpy"),
    "total": ("kernel", "malloc", "printf"),
    "body": ("void", "sin", "free"),
}
ALIKE: dict[str, Callable[[str, int], str]] = {
    "but for marks": lambda stem, n: f"{stem}{'.-_'[n]}1",
    "but for the case": lambda stem, n: (stem, stem.capitalize(), stem.upper())[n],
    "but for zeros": lambda stem, n: f"{stem}.{'0' * n}1",
    "but for the end of a long name": lambda stem, n: f"{stem * 60}{n}",
    "but for the beginning of a long name": lambda stem, n: f"{'xyz'[n]}{stem * 60}",
    "words of C": lambda stem, n: _WORDS[stem][n],
}
"""How three names of a stem are alike -> each of the names."""


def program_of_names(how: str) -> FamilyProgram:
    """A program whose equal ops of equal shapes have names that are alike, and so have the computations they apply."""

    def names(stem: str) -> list[str]:
        return [ALIKE[how](stem, number) for number in range(3)]

    bodies, less, part, total = map(names, ("body", "less", "part", "total"))
    lines = ["HloModule names", ""]
    for name, opcode in zip(bodies, ("add", "maximum", "minimum"), strict=True):
        lines += [f"{name} {{", "  a = s32[] parameter(0)", "  b = s32[] parameter(1)"]
        lines += [f"  ROOT c = s32[] {opcode}(a, b)", "}", ""]
    lines += ["ENTRY entry {", "  x = s32[9] parameter(0)", "  y = s32[9] parameter(1)", "  one = s32[] constant(1)"]
    for name, direction in zip(less, ("LT", "EQ", "GT"), strict=True):
        lines.append(f"  {name} = pred[9] compare(x, y), direction={direction}")
    lines += [f"  {name} = s32[5] slice(x), slice={{[{start}:{start + 5}]}}" for start, name in enumerate(part)]
    for name, body in zip(total, bodies, strict=True):
        lines.append(f"  {name} = s32[] reduce(x, one), dimensions={{0}}, to_apply={body}")
    shapes = ", ".join(["pred[9]"] * 3 + ["s32[5]"] * 3 + ["s32[]"] * 3)
    lines += [f"  ROOT results = ({shapes}) tuple({', '.join([*less, *part, *total])})", "}", ""]
    return FamilyProgram(f"names {how}", "\n".join(lines))
