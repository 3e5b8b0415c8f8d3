"""The objects that ops read from bytecode share: attributes, op names, and the file that their locations are read from."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import weakref

import pytest

from tests.xla_core.stablehlo.bytecode.bytecode_files import BytecodeFile, module_file, varint
from xla_core.errors import InvalidArgumentError, SourceLocation
from xla_core.stablehlo import Op, TensorType, parse_bytecode
from xla_core.stablehlo.bytecode import pool
from xla_core.stablehlo.ir import new_op


def test_attributes_that_ops_share_can_not_be_changed() -> None:
    file = BytecodeFile()
    attributes = file.dictionary(a=file.text("b"))
    ops = [file.op("other.op", attributes=attributes, is_registered=False) for _ in range(2)]
    first, second = parse_bytecode(module_file(file, ops)).others
    assert first.attributes is second.attributes
    assert first.attributes == {"a": "b"}
    with pytest.raises(TypeError):
        first.attributes["a"] = "c"  # type: ignore[index]


def test_locations_are_read_by_many_threads_at_once() -> None:
    """They are read when somebody asks, long after the file."""
    file = BytecodeFile()
    locations = []
    for i in range(1000):
        place = file.attribute("builtin", varint(11) + varint(file.text(f"file{i}")) + varint(i) + varint(1))
        locations.append(file.attribute("builtin", varint(14) + varint(file.text(f"name{i}")) + varint(place)))
    ops = [file.op("other.op", location=location, is_registered=False) for location in locations]
    data = module_file(file, ops)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(12):
            read = parse_bytecode(data).others
            parts = [read[first::4] for first in range(4)]
            threads = [threading.Thread(target=lambda ops=part: [op.location for op in ops]) for part in parts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [op.location for op in read] == [SourceLocation(f"file{i}", i, 1, f"name{i}") for i in range(1000)]
    finally:
        sys.setswitchinterval(interval)


def test_a_file_that_is_refused_is_freed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only when the collector of cycles comes by: files are large."""
    made: list[weakref.ref[pool.Pool]] = []

    class Watched(pool.Pool):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            made.append(weakref.ref(self))

    monkeypatch.setattr("xla_core.stablehlo.bytecode.reader.Pool", Watched)
    file = BytecodeFile()
    data = module_file(file, [file.op("vhlo.iota_v1", properties=b"")])
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(InvalidArgumentError):
            parse_bytecode(data)
        assert [ref() for ref in made] == [None]
    finally:
        gc.enable()


def test_a_name_that_is_listed_many_times_takes_little() -> None:
    """A name takes a byte of the file; what is known of it must not be kept for each."""
    count = 20_000
    file = BytecodeFile()
    op = file.op("other.op", is_registered=False)
    data = file.build([op])
    once = file.dialect("other") + varint(1) + varint(file.strings.index("op") << 1)
    assert data.count(once) == 1
    names = file.dialect("other") + varint(count) + varint(file.strings.index("op") << 1) * count
    ops = [varint(i) + op[1:] for i in range(count)]
    hostile = _replaced(data, once, names, file.block(ops))
    tracemalloc.start()
    try:
        assert len(parse_bytecode(hostile).others) == count
        assert tracemalloc.get_traced_memory()[1] < 600 * count
    finally:
        tracemalloc.stop()


def _replaced(data: bytes, names: bytes, more_names: bytes, ir: bytes) -> bytes:
    """A file with other op names and another program: its sections one by one."""
    start = data.index(b"test\0") + len(b"test\0")
    out, position = data[:start], start
    while position < len(data):
        number = data[position]
        low = data[position + 1]
        width = (low & -low).bit_length()
        size = int.from_bytes(data[position + 1 : position + 1 + width], "little") >> width
        body = data[position + 1 + width : position + 1 + width + size]
        position += 1 + width + size
        if number == 1:
            body = body.replace(names, more_names)
        elif number == 4:
            body = ir
        out += bytes([number]) + varint(len(body)) + body
    return out


def test_an_op_made_the_fast_way_is_as_any_other() -> None:
    types = [TensorType((2,), "f32"), TensorType((), "i1")]
    for count in range(3):
        slow, fast = Op("a.b", [], types[:count], {"c": 1}), new_op("a.b", [], types[:count], {"c": 1}, None)
        for name in Op.__slots__:
            if name != "results":
                assert getattr(fast, name) == getattr(slow, name), name
        for mine, theirs in zip(fast.results, slow.results, strict=True):
            assert mine.owner is fast
            assert (mine.type, mine.index, mine.name) == (theirs.type, theirs.index, theirs.name)
