"""Draws the graph of a module as text for Graphviz. (XLA: xla/service/hlo_graph_dumper.h.)

`dot -Tsvg` makes the picture; nothing here needs Graphviz.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, require_module
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode

_HEADER = """\
digraph "{name}" {{
  rankdir=TB;
  fontname="Helvetica";
  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=10, color="#00000040", fillcolor="#ffffff"];
  edge [fontname="Helvetica", fontsize=8, color="#606060"];
"""

_COLOURS = {"parameter": "#ffe0b2", "constant": "#eceff1", "dot": "#bbdefb", "convolution": "#bbdefb"}
_TRAIT_COLOURS = {
    Trait.CONTROL_FLOW: "#f8bbd0",
    Trait.COLLECTIVE: "#d1c4e9",
    Trait.DATA_MOVEMENT: "#dcedc8",
    Trait.ELEMENTWISE: "#fff9c4",
}
_LARGEST_SHOWN = 4  # elements of a constant


def to_dot(module: HloModule, marked: Collection[str] = ()) -> str:
    """Returns the module's graph as DOT text, with a node for each instruction and an edge for each operand.

    A fusion is a box around its instructions. Bodies, conditions and branches are separate boxes, with a dashed edge
    from the instruction that runs them. A computation of scalars that an instruction applies, such as a reduction's, is
    named in that instruction's node. Fused computations without callers are left out. Instructions whose names are
    `marked`, such as those that the host runs, have a red border.
    """
    require_module(module)
    writer = _Writer(frozenset(marked))
    writer.box(module.entry, f"ENTRY {module.entry.name}", "  ", {})
    return "".join([_HEADER.format(name=_escape(module.name)), *writer.lines, *writer.edges, "}\n"])


class _Writer:
    """Collects boxes with their nodes first and all edges last, because DOT puts a node where it is first named."""

    def __init__(self, marked: frozenset[str]) -> None:
        self._marked = marked
        self.lines: list[str] = []
        self.edges: list[str] = []
        self._boxes = 0
        self._nodes: dict[HloInstruction, str] = {}
        self._drawn: dict[HloComputation, str] = {}

    def box(
        self, computation: HloComputation, label: str, indent: str, arguments: Mapping[int, HloInstruction]
    ) -> None:
        """Draws a computation's instructions. For a fusion, `arguments` maps parameter numbers to the operands."""
        self.lines.append(f"{indent}subgraph cluster_{self._boxes} {{\n")
        self.lines.append(f'{indent}  label="{_escape(label)}"; style="rounded"; color="#90a4ae"; fontsize=10;\n')
        self._boxes += 1
        for instruction in computation.post_order():
            if instruction.opcode == Opcode.PARAMETER and arguments:
                continue
            if instruction.opcode == Opcode.FUSION:
                inner = instruction.called_computations[0]
                values = {number: self._value(o, arguments) for number, o in enumerate(instruction.operands)}
                self.box(inner, f"{instruction.name}: {instruction.shape.without_layout()}", indent + "  ", values)
                self._nodes[instruction] = self._nodes[inner.root]
            else:
                self._node(instruction, indent + "  ", arguments)
        self.lines.append(f"{indent}}}\n")
        self._drawn[computation] = self._nodes[computation.root]

    def _value(self, operand: HloInstruction, arguments: Mapping[int, HloInstruction]) -> HloInstruction:
        return arguments[operand.parameter_number] if operand.opcode == Opcode.PARAMETER and arguments else operand

    def _node(self, instruction: HloInstruction, indent: str, arguments: Mapping[int, HloInstruction]) -> None:
        node = self._nodes[instruction] = f"n{len(self._nodes)}"
        label = "\\n".join(map(_escape, _label(instruction)))
        border = ', penwidth=2, color="#37474f"' if instruction.is_root else ""
        if instruction.name in self._marked:
            border = ', penwidth=3, color="#c62828"'
        self.lines.append(f'{indent}{node} [label="{label}", fillcolor="{_colour(instruction)}"{border}];\n')
        several = len(instruction.operands) > 1
        for number, operand in enumerate(instruction.operands):
            note = f' [label="{number}"]' if several else ""
            self.edges.append(f"  {self._nodes[self._value(operand, arguments)]} -> {node}{note};\n")
        for computation in instruction.called_computations if _runs(instruction) else ():
            if computation not in self._drawn:
                self.box(computation, computation.name, "  ", {})
            self.edges.append(f"  {self._drawn[computation]} -> {node} [style=dashed];\n")


def _runs(instruction: HloInstruction) -> bool:
    return Trait.CONTROL_FLOW in instruction.op.traits


def _label(instruction: HloInstruction) -> Iterator[str]:
    label = str(instruction.opcode)
    if not _runs(instruction):
        for applied in instruction.called_computations:
            inside = [i.opcode for i in applied.instructions if i.opcode != Opcode.PARAMETER]
            label += f" {inside[0] if len(inside) == 1 else applied.name}"
    yield label if label == instruction.name else f"{label}  %{instruction.name}"
    yield str(instruction.shape.without_layout())
    if instruction.opcode == Opcode.CONSTANT and instruction.literal.shape.is_array:
        array = instruction.literal.array
        if array.size <= _LARGEST_SHOWN:
            yield " ".join(str(array).split())


def _colour(instruction: HloInstruction) -> str:
    colour = _COLOURS.get(instruction.opcode)
    if colour is not None:
        return colour
    return next((c for trait, c in _TRAIT_COLOURS.items() if trait in instruction.op.traits), "#ffffff")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
