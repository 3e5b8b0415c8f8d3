"""Decodes attributes of the dialect sdy (Shardy) into their MLIR text, as the text reader keeps them.

Source: openxla/shardy, shardy/dialect/sdy/ir/bytecode.td, attrs.td, printers.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.pool import Decoder, DialectReader

_LETTERS = "ijklmnopqrstuvwxyz"
_REDUCTIONS = ("", "max", "min")


def _attribute(mnemonic: str, body: Callable[[DialectReader], str]) -> Decoder:
    """Makes a decoder that writes `#sdy.mnemonic<...>` if the body has its own brackets, else `#sdy<mnemonic...>`."""

    def read(reader: DialectReader) -> ir.OpaqueAttribute:
        text = body(reader)
        return ir.OpaqueAttribute(f"#sdy.{mnemonic}{text}" if text.startswith("<") else f"#sdy<{mnemonic}{text}>")

    return read


def _body(reader: DialectReader, value: Any, mnemonic: str) -> str:
    """Returns the text of an attribute inside another attribute, where its name is left out."""
    if isinstance(value, ir.OpaqueAttribute):
        if value.text.startswith(f"#sdy.{mnemonic}<"):
            return value.text.removeprefix(f"#sdy.{mnemonic}")
        if value.text.startswith(f"#sdy<{mnemonic}"):
            return value.text[len(f"#sdy<{mnemonic}") : -1]
    raise reader.error(f"expected an attribute of the kind {mnemonic}")


def _inner(reader: DialectReader, mnemonic: str) -> str:
    return _body(reader, reader.attribute(), mnemonic)


def _inners(reader: DialectReader, mnemonic: str) -> str:
    return ", ".join(reader.list_of(lambda: _inner(reader, mnemonic)))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _mesh(reader: DialectReader) -> str:
    axes = _inners(reader, "mesh_axis")
    ids = reader.integers()
    return f"<[{axes}]{f', device_ids=[{_numbers(ids)}]' if ids else ''}>"


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _axis_ref(reader: DialectReader) -> str:
    name = _quoted(reader.string())
    sub_axis = reader.optional_attribute()
    return name if sub_axis is None else f"{name}:{_body(reader, sub_axis, 'sub_axis_info')}"


def _dimension(reader: DialectReader) -> str:
    axes = _inners(reader, "axis_ref")
    is_closed = reader.boolean()
    priority, has_priority = reader.flagged()
    end = "" if is_closed else ", ?" if axes else "?"
    return f"{{{axes}{end}}}{f'p{priority}' if has_priority else ''}"


def _sharding(version: int) -> Callable[[DialectReader], str]:
    def read(reader: DialectReader) -> str:
        mesh = reader.attribute()
        name = f"@{mesh}" if isinstance(mesh, ir.SymbolRef) else f"mesh{_body(reader, mesh, 'mesh')}"
        text = f"<{name}, [{_inners(reader, 'dimension_sharding')}]"
        if replicated := _inners(reader, "axis_ref"):
            text += f", replicated={{{replicated}}}"
        unreduced = _inners(reader, "axis_ref") if version >= 2 else ""
        reduction = reader.signed() if version >= 3 else 0
        if not 0 <= reduction < len(_REDUCTIONS):
            raise reader.error(f"there is no reduction {reduction}")
        if unreduced:
            text += f", unreduced={_REDUCTIONS[reduction]}{{{unreduced}}}"
        return f"{text}>"

    return read


def _factor(number: int) -> str:
    return _LETTERS[number] if 0 <= number < len(_LETTERS) else f"z_{number - len(_LETTERS) + 1}"


def _rule(reader: DialectReader) -> str:
    sizes = reader.integers()
    operands, results = _inners(reader, "tensor_mapping"), _inners(reader, "tensor_mapping")
    text = f"<({operands})->({results})"
    if sizes:
        text += f" {{{', '.join(f'{_factor(i)}={size}' for i, size in enumerate(sizes))}}}"
    for kind in ("reduction", "need_replication", "permutation", "blocked_propagation"):
        if factors := reader.integers():
            text += f" {kind}={{{', '.join(map(_factor, factors))}}}"
    return f"{text}{', custom' if reader.boolean() else ''}>"


def _all_to_all(reader: DialectReader) -> str:
    axes = _inners(reader, "axis_ref")
    return f"{{{axes}}}: {reader.signed()}->{reader.signed()}"


def _per_value(reader: DialectReader) -> str:
    return f"<[{_inners(reader, 'sharding')}]>"


ATTRIBUTES: dict[int, Decoder] = {
    0: _attribute("manual_axes", lambda r: "{" + ", ".join(r.list_of(lambda: _quoted(r.text()))) + "}"),
    1: _attribute("mesh_axis", lambda r: f"{_quoted(r.string())}={r.signed()}"),
    2: _attribute("mesh", _mesh),
    3: _attribute("sub_axis_info", lambda r: f"({r.signed()}){r.signed()}"),
    4: _attribute("axis_ref", _axis_ref),
    5: _attribute("dimension_sharding", _dimension),
    6: _attribute("sharding", _sharding(1)),
    7: _attribute("sharding_per_value", _per_value),
    8: _attribute("dim_mapping", lambda r: "".join(map(_factor, r.integers()))),
    9: _attribute("tensor_mapping", lambda r: f"[{_inners(r, 'dim_mapping')}]"),
    10: _attribute("op_sharding_rule", _rule),
    11: _attribute("axis_ref_list", lambda r: f"{{{_inners(r, 'axis_ref')}}}"),
    12: _attribute("list_of_axis_ref_lists", lambda r: f"[{_inners(r, 'axis_ref_list')}]"),
    13: _attribute("all_to_all_param", _all_to_all),
    14: _attribute("all_to_all_param_list", lambda r: f"[{_inners(r, 'all_to_all_param')}]"),
    15: _attribute("sharding", _sharding(2)),
    16: _attribute("sharding_per_value", _per_value),
    17: _attribute("sharding", _sharding(3)),
}
