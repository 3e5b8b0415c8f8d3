"""Counts how often the loops of a kernel run, from its LLVM IR before LLVM's own passes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from tests.xla_core.codegen.llvm.kernels import emit
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode

_LABEL = r"%([\w.\-]+)"
_Blocks = Mapping[str, Sequence[str]]


def reduction_steps(fusion: HloInstruction) -> float:
    """Returns how many elements the reductions of a kernel combine in one run of it, if all of its branches run."""
    called = fusion.attribute("calls")
    targets = called.root.operands[:1] if called.root.opcode == Opcode.DYNAMIC_UPDATE_SLICE else []  # updated in place
    kernel, text = emit(fusion, aliasing=[(0, called.parameters.index(t)) for t in targets if t in called.parameters])
    units = {phase.name: phase.partition_count for phase in kernel.phases}
    functions = re.finditer(r"^define [^\n]*@(\w+)\([^\n]*\n(.*?)^}", text, re.DOTALL | re.MULTILINE)
    return sum(_steps(_blocks(match[2]), units[match[1]]) for match in functions if match[1] in units)


def _blocks(body: str) -> _Blocks:
    found: dict[str, list[str]] = {}
    label = ""
    for line in body.splitlines():
        if match := re.match(r"([\w.\-]+):", line):
            label = match[1]
        found.setdefault(label, []).append(line.strip())
    return found


def _steps(blocks: _Blocks, units: int) -> float:
    loops = {header: _members(blocks, header, latch) for header, latch in _headers(blocks)}
    reductions = [header for header in loops if re.match(r"reduce\.\d", header)]
    total = 0.0
    for header in reductions:
        if not any(other != header and other in loops[header] for other in reductions):  # the innermost of its loops
            total += math.prod(_iterations(blocks, loop, units) for loop, inside in loops.items() if header in inside)
    return total


def _headers(blocks: _Blocks) -> Iterator[tuple[str, str]]:
    """Yields the block in which each loop begins, and the block that ends an iteration."""
    for label, lines in blocks.items():
        for line in lines:
            match = re.match(rf"%\w+ = phi i\d+ \[ \S+, {_LABEL} \], \[ \S+, {_LABEL} \]", line)
            if match and re.search(r"icmp ult", "\n".join(lines)):
                yield label, match[2]
                break


def _members(blocks: _Blocks, header: str, latch: str) -> set[str]:
    """The blocks of a loop: those from which the end of an iteration is reached without the beginning."""
    before: dict[str, list[str]] = {label: [] for label in blocks}
    for label, lines in blocks.items():
        for line in lines:
            for target in re.findall(rf"label {_LABEL}", line) if line.startswith("br ") else ():
                before[target].append(label)
    found, stack = {header}, [latch]
    while stack:
        label = stack.pop()
        if label not in found:
            found.add(label)
            stack += before[label]
    return found


def _iterations(blocks: _Blocks, header: str, units: int) -> float:
    text = "\n".join(blocks[header])
    end = re.search(r"icmp ult \w+ (%\w+), (\S+)", text)
    assert end is not None
    begin = re.search(rf"{end[1]} = phi \w+ \[ (\S+), {_LABEL} \], \[ (\S+), {_LABEL} \]", text)
    assert begin is not None
    step = _defined(blocks, begin[3], r"add [\w ]+ \S+, (\d+)")
    if step is None or header.startswith("unit"):
        return units
    if header.startswith("rows"):
        return -(-units // int(step))
    if end[2].isdigit() and begin[1].isdigit():
        return -(-(int(end[2]) - int(begin[1])) // int(step))
    last = _defined(blocks, end[2], r"call i\d+ @llvm.umin.i\d+\(i\d+ (\S+), ") or end[2]  # of a row in pieces
    length = _defined(blocks, last, r"add [\w ]+ \S+, (\d+)")
    assert length is not None, f"{header} has an unknown number of iterations"
    return -(-int(length) // int(step))


def _defined(blocks: _Blocks, name: str, pattern: str) -> str | None:
    for lines in blocks.values():
        for line in lines:
            if match := re.match(rf"{re.escape(name)} = {pattern}", line):
                return match[1]
    return None
