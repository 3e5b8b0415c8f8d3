"""Bytecode: the primitives, the tables, ops and regions in every version of the format, and what must be refused."""

from __future__ import annotations

import time
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xla_core as xla
from tests.xla_core.stablehlo.bytecode.bytecode_files import BytecodeFile, module_file, signed, varint
from xla_core.errors import InvalidArgumentError, SourceLocation, UnimplementedError, XlaError
from xla_core.stablehlo import Module, parse_bytecode
from xla_core.stablehlo.bytecode.encoding import ByteReader
from xla_core.stablehlo.ir import DYNAMIC, TensorType
from xla_core.stablehlo.ir.attributes import DenseArray, DenseElements, TypedFloat, TypedInt

VERSIONS = pytest.mark.parametrize("version", range(7))


@given(st.integers(0, (1 << 64) - 1))
def test_varints(value: int) -> None:
    reader = ByteReader(varint(value) + b"rest", "f")
    assert reader.varint() == value
    assert reader.position == len(varint(value))


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_signed_varints(value: int) -> None:
    assert ByteReader(signed(value), "f").signed() == value


@given(st.lists(st.integers(0, 200) | st.integers(0, (1 << 64) - 1), max_size=60), st.binary(max_size=3))
def test_many_varints(values: list[int], rest: bytes) -> None:
    data = b"".join(map(varint, values))
    reader = ByteReader(data + rest, "f")
    assert reader.varints(len(values)) == values
    assert reader.position == len(data)
    if data:
        with pytest.raises(InvalidArgumentError, match="the data end"):
            ByteReader(data[:-1], "f").varints(len(values))


@given(st.binary(max_size=9))
def test_varints_end_or_are_refused(data: bytes) -> None:
    reader = ByteReader(data, "f")
    try:
        assert 0 <= reader.varint() < 1 << 64
    except XlaError as error:
        message = error.message
    else:
        message = "byte 0"
    assert "byte 0" in message
    assert reader.position <= len(data)


def attribute(make: Any, version: int = 6) -> Any:
    """What an attribute is read as; `make` puts it into a file."""
    file = BytecodeFile(version)
    ops = [file.op("vhlo.func_v1", attributes=file.dictionary(x=make(file), **function_attributes(file)))]
    return parse_bytecode(module_file(file, ops)).functions["f"].attributes["x"]


def function_attributes(file: BytecodeFile, arguments: tuple[int, ...] = ()) -> dict[str, int]:
    inputs = b"".join(varint(t) for t in arguments)
    type = file.type("vhlo", varint(8) + varint(len(arguments)) + inputs + varint(len(arguments)) + inputs)
    return {
        "sym_name": file.attribute("vhlo", varint(14) + file.string("f")),
        "function_type": file.attribute("vhlo", varint(17) + varint(type)),
    }


def add_file(version: int = 6) -> bytes:
    """A function that adds its argument to itself."""
    file = BytecodeFile(version)
    type = file.tensor(2, -(1 << 63))
    body = file.region(
        [file.op("vhlo.add_v1", results=[type], operands=[0, 0]), file.op("vhlo.return_v1", operands=[1])],
        [type],
        values=2,
    )
    attributes = file.dictionary(**function_attributes(file, (type,)))
    return module_file(file, [file.op("vhlo.func_v1", attributes=attributes, regions=[body])])


@VERSIONS
def test_every_version_of_the_format(version: int) -> None:
    module = parse_bytecode(add_file(version))
    function = module.functions["f"]
    add, done = function.regions[0].block.ops
    assert (add.name, done.name) == ("stablehlo.add", "func.return")
    assert add.operands == [function.regions[0].block.arguments[0]] * 2
    assert done.operands == add.results
    assert add.results[0].type == TensorType((2, DYNAMIC), "f32")
    assert add.location == SourceLocation()


def test_numbers() -> None:
    def typed(code: int, type: int, data: bytes) -> Any:
        return attribute(lambda f: f.attribute("vhlo", varint(code) + varint(f.type("vhlo", varint(type))) + data))

    for type, data, want, kind in (
        (14, signed(-5), -5, int),
        (13, signed(7), TypedInt(7, "i32"), TypedInt),
        (16, b"\xff", TypedInt(255, "ui8"), TypedInt),
        (11, b"\xff", TypedInt(-1, "i8"), TypedInt),
        (31, b"\x03", TypedInt(-1, "i2"), TypedInt),
        (9, signed(-1), TypedInt(-1, "index"), TypedInt),
    ):
        value = typed(9, type, data)
        assert (value, type_of(value)) == (want, kind)
    bits = int(np.float32(0.1).view(np.int32))
    value = typed(8, 4, signed(bits))
    assert isinstance(value, TypedFloat)
    assert (float(value), value.type) == (float(np.float32(0.1)), "f32")
    bits = int(np.float64(-2.5).view(np.int64))
    assert typed(8, 5, signed(bits)) == -2.5
    assert typed(8, 6, b"\x38") == float(np.uint8(0x38).view(ml_dtypes.float8_e4m3fn))


def type_of(value: Any) -> type:
    return value.__class__


def dense(element: int, shape: tuple[int, ...], data: bytes) -> DenseElements:
    def make(file: BytecodeFile) -> int:
        scalar = file.type("vhlo", varint(element))
        dims = varint(len(shape)) + b"".join(map(signed, shape))
        tensor = file.type("vhlo", varint(20) + dims + varint(scalar))
        return file.attribute("vhlo", varint(15) + varint(tensor) + varint(len(data)) + data)

    value = attribute(make)
    assert isinstance(value, DenseElements)
    return value


def test_constants() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 5)).astype(np.float32)
    np.testing.assert_array_equal(dense(4, (3, 5), x.tobytes()).array, x)
    splat = dense(4, (1000, 1000, 1000), x[0, :1].tobytes())
    assert splat.is_splat
    assert splat.array[1, 2, 3] == x[0, 0]
    flags = rng.integers(0, 2, 19).astype(bool)
    packed = np.packbits(flags, bitorder="little").tobytes()
    np.testing.assert_array_equal(dense(0, (19,), packed).array, flags)
    np.testing.assert_array_equal(dense(0, (19,), flags.tobytes()).array, flags)
    assert dense(0, (19,), b"\xff").array.all()
    assert not dense(0, (19,), b"\0").array.any()
    np.testing.assert_array_equal(dense(10, (3,), b"\x0f\x01\xf8").array.astype(int), [-1, 1, -8])
    assert dense(4, (0, 3), b"").array.shape == (0, 3)


def test_a_constant_shares_the_bytes_of_the_file() -> None:
    data = np.arange(1 << 20, dtype=np.float32)
    value = dense(4, (1 << 20,), data.tobytes())
    assert value.data.base is not None
    assert not value.data.flags.owndata
    assert not value.data.flags.writeable
    np.testing.assert_array_equal(value.array, data)


@pytest.mark.parametrize(
    ("element", "shape", "data"),
    [
        (4, (3,), b"\0" * 8),
        (4, (1 << 60,), b"\0" * 8),
        (0, (100,), b"\x01\x02"),
        (4, (-(1 << 63),), b"\0" * 4),
        (4, (-7,), b"\0" * 4),
        (4, (1,) * 65, b"\0" * 4),
        (34, (1,), b"\0" * 4),
    ],
)
def test_wrong_constants(element: int, shape: tuple[int, ...], data: bytes) -> None:
    with pytest.raises(XlaError, match=r"byte [0-9]+"):
        dense(element, shape, data)


def test_arrays_text_and_nothing_of_other_dialects() -> None:
    def array(file: BytecodeFile) -> int:
        element = file.type("builtin", varint(0) + varint(64 << 2))
        data = np.array([3, -4]).tobytes()
        return file.attribute("builtin", varint(17) + varint(element) + varint(2) + varint(len(data)) + data)

    value = attribute(array)
    assert value == (3, -4)
    assert isinstance(value, DenseArray)
    assert value.element == "i64"
    assert (
        str(attribute(lambda f: f.attribute("sdy", b'#sdy.mesh<["x"=2]>\0', is_custom=False))) == '#sdy.mesh<["x"=2]>'
    )
    assert attribute(lambda f: f.attribute("builtin", b"array<i1: true>\0", is_custom=False)) == (True,)
    with pytest.raises(UnimplementedError, match="dialect other"):
        attribute(lambda f: f.attribute("other", varint(0)))
    with pytest.raises(InvalidArgumentError, match=r"byte [0-9]+: expected"):
        attribute(lambda f: f.attribute("builtin", b"dense<\0", is_custom=False))


def test_locations() -> None:
    file = BytecodeFile()
    place = file.attribute("builtin", varint(11) + varint(file.text("model.py")) + varint(3) + varint(7))
    other = file.attribute("builtin", varint(22) + varint(file.text("main.py")) + varint(2) + varint(5) + varint(6))
    call = file.attribute("builtin", varint(10) + varint(place) + varint(other))
    name = file.attribute("builtin", varint(14) + varint(file.text("jit(f)/add")) + varint(call))
    fused = file.attribute("builtin", varint(12) + varint(2) + varint(file.unknown) + varint(name))
    broken = file.attribute("builtin", varint(14) + varint(9999) + varint(call))
    cyclic = len(file.attributes)
    file.attribute("builtin", varint(12) + varint(2) + varint(cyclic) + varint(cyclic))
    names = {"stablehlo.a": fused, "stablehlo.b": other, "stablehlo.c": broken, "stablehlo.d": cyclic}
    ops = [file.op("func.return", location=location) for location in names.values()]
    found = [op.location for op in parse_bytecode(module_file(file, ops)).others]
    assert found == [
        SourceLocation("model.py", 3, 7, "jit(f)/add"),
        SourceLocation("main.py", 5, 6),
        SourceLocation(),
        SourceLocation(),
    ]


def refused(data: bytes, match: str, kind: type[XlaError] = InvalidArgumentError) -> XlaError:
    start = time.thread_time()
    with pytest.raises(kind, match=match) as caught:
        parse_bytecode(data, "file.bc")
    assert time.thread_time() - start < 2
    assert caught.value.location is not None
    assert caught.value.location.file == "file.bc"
    return caught.value


def test_truncations_anywhere() -> None:
    data = add_file()
    for size in range(len(data)):
        with pytest.raises(XlaError):
            parse_bytecode(data[:size])


def test_what_is_no_bytecode() -> None:
    refused(b"", "not MLIR bytecode")
    refused(b"ML\xefR", "the data end")
    refused(b"ML\xefR" + varint(7) + b"x\0", "(?s)version 7.*damaged", UnimplementedError)
    refused(b"ML\xefR" + varint(6) + b"x", "unterminated string")
    refused(b"ML\xefR" + varint(6) + b"x\0", "STRING section is missing")
    refused(b"ML\xefR" + varint(6) + b"x\0" + bytes([9]) + varint(0), "no section 9")
    refused(b"ML\xefR" + varint(6) + b"x\0" + (bytes([0]) + varint(0)) * 2, "second STRING")
    refused(b"ML\xefR" + varint(6) + b"x\0" + bytes([0]) + varint(1 << 62), "only 0 are left")
    refused(b"ML\xefR" + varint(6) + b"x\0" + bytes([0x80]) + varint(0) + varint(3), "power of two")
    huge = bytes([0]) + varint(9) + varint(1 << 60) + b"".join(bytes([n]) + varint(0) for n in range(1, 5))
    refused(b"ML\xefR" + varint(6) + b"x\0" + huge, "entries can't be")


def in_function(*ops: Any, values: int | None = None) -> bytes:
    """A function with the ops that functions of the file make."""
    file = BytecodeFile()
    count = 1 + len(ops) if values is None else values
    body = file.region([op(file) for op in ops], [file.tensor()], values=count)
    attributes = file.dictionary(**function_attributes(file))
    return module_file(file, [file.op("vhlo.func_v1", attributes=attributes, regions=[body])])


def test_wrong_ops() -> None:
    refused(
        in_function(lambda f: f.op("vhlo.add_v9")), "unknown op 'vhlo.add_v9': there is vhlo.add_v1", UnimplementedError
    )
    refused(in_function(lambda f: f.op("vhlo.abs_v1", operands=[1])), "value 1 is used but not defined")
    refused(in_function(lambda f: f.op("vhlo.abs_v1", operands=[99])), "refers to an entry that doesn't exist")
    refused(in_function(lambda f: f.op("vhlo.abs_v1", results=[99])), "there is no type 99")
    refused(in_function(lambda f: f.op("vhlo.abs_v1", results=[0]), values=1), "more values than")
    refused(in_function(lambda f: f.op("vhlo.abs_v1", mask=8)), "no branches")
    refused(in_function(lambda f: f.op("vhlo.abs_v1", mask=128)), "parts that")
    refused(in_function(lambda f: f.op("vhlo.abs_v1", location=99)), "refers to an entry that doesn't exist")
    refused(in_function(lambda f: f.op("vhlo.abs_v1", attributes=f.text("x"))), "must be a dictionary")
    refused(in_function(lambda f: f.op("vhlo.iota_v1", properties=b"")), "iota_dimension")
    refused(in_function(lambda f: f.op("vhlo.iota_v1", properties=varint(0) * 2)), "iota_dimension")
    refused(in_function(lambda f: f.op("other.op", properties=varint(0))), "not known", UnimplementedError)


def test_an_op_that_its_writer_did_not_know() -> None:
    data = in_function(lambda f: f.op("other.op", properties=varint(f.dictionary(a=f.text("b"))), is_registered=False))
    assert parse_bytecode(data).functions["f"].regions[0].block.ops[0].attributes == {"a": "b"}


def test_two_functions_of_one_name() -> None:
    file = BytecodeFile()
    attributes = file.dictionary(**function_attributes(file))
    functions = [file.op("vhlo.func_v1", attributes=attributes) for _ in range(2)]
    refused(module_file(file, functions), "the symbol @f is defined twice")


def test_a_region_can_not_use_what_its_own_op_defines() -> None:
    def loop(file: BytecodeFile) -> bytes:
        inner = file.region([file.op("vhlo.return_v1", operands=[1])], values=0)
        return file.op("vhlo.while_v1", results=[1], operands=[0], regions=[inner, inner])

    refused(in_function(loop), "value 1 is used but not defined")


def test_orders_of_uses_are_skipped() -> None:
    file = BytecodeFile()
    type = file.tensor()
    order = varint(2 << 1) + varint(1) + varint(0)
    name, rest = (op := file.op("vhlo.abs_v1", results=[type], operands=[0]))[:1], op[2:]
    body = file.region([name + bytes([2 | 4 | 32]) + rest + order, file.op("vhlo.return_v1", operands=[1])], [type], 2)
    attributes = file.dictionary(**function_attributes(file, (type,)))
    data = module_file(file, [file.op("vhlo.func_v1", attributes=attributes, regions=[body])])
    assert [op.name for op in parse_bytecode(data).functions["f"].regions[0].block.ops] == [
        "stablehlo.abs",
        "func.return",
    ]


def test_casts_between_dialects_vanish() -> None:
    cast = "builtin.unrealized_conversion_cast"
    data = in_function(
        lambda f: f.op(cast, results=[1], operands=[0]),
        lambda f: f.op("vhlo.abs_v1", results=[1], operands=[1]),
        lambda f: f.op("vhlo.return_v1", operands=[2]),
    )
    block = parse_bytecode(data).functions["f"].regions[0].block
    assert [op.name for op in block.ops] == ["stablehlo.abs", "func.return"]
    assert block.ops[0].operands == block.arguments


# Programs made to cost much


def test_deep_regions() -> None:
    file = BytecodeFile()
    region = file.region([], values=0)
    for _ in range(5000):
        region = file.region([file.op("vhlo.case_v1", regions=[region])], values=0)
    refused(module_file(file, [file.op("vhlo.case_v1", regions=[region])]), "levels deep")


@pytest.mark.parametrize("is_cyclic", [False, True])
def test_deep_attributes(is_cyclic: bool) -> None:
    file = BytecodeFile()
    index = len(file.attributes) if is_cyclic else file.unknown
    for _ in range(1 if is_cyclic else 5000):
        index = file.attribute("builtin", varint(0) + varint(1) + varint(index))
    refused(module_file(file, [file.op("func.return", attributes=file.dictionary(x=index))]), "levels deep")


def test_attributes_that_grow_exponentially() -> None:
    file = BytecodeFile()
    index = file.text("x")
    for _ in range(60):
        index = file.attribute("builtin", varint(0) + varint(2) + varint(index) * 2)
    refused(module_file(file, [file.op("func.return", attributes=file.dictionary(x=index))]), "too much")


def test_types_that_grow_exponentially() -> None:
    file = BytecodeFile()
    type = file.tensor()
    for _ in range(60):
        type = file.type("vhlo", varint(23) + varint(2) + varint(type) * 2)
    refused(module_file(file, [file.op("vhlo.tuple_v1", results=[type])]), "too much")


def test_large_attributes_of_many_ops() -> None:
    file = BytecodeFile()
    values = {f"a{i}": file.unknown for i in range(3000)}
    attributes = file.dictionary(**values)
    op = file.op("vhlo.abs_v1", attributes=attributes)
    refused(module_file(file, [op] * 20_000), "too much")


def test_a_list_that_claims_to_be_long() -> None:
    def reverse(file: BytecodeFile) -> bytes:
        i64 = file.type("vhlo", varint(14))
        type = file.type("vhlo", varint(20) + varint(1) + signed(1 << 50) + varint(i64))
        value = file.attribute("vhlo", varint(15) + varint(type) + varint(8) + bytes(8))
        return file.op("vhlo.reverse_v1", properties=varint(value), results=[1], operands=[0])

    refused(in_function(reverse), "dimensions: a list of")


def test_programs_are_told_by_their_first_bytes() -> None:
    file = BytecodeFile()
    type = file.tensor(3)
    body = file.region(
        [file.op("vhlo.add_v1", results=[type], operands=[0, 0]), file.op("vhlo.return_v1", operands=[1])], [type], 2
    )
    attributes = function_attributes(file, (type,))
    attributes["sym_name"] = file.attribute("vhlo", varint(14) + file.string("main"))
    function = file.op("vhlo.func_v1", attributes=file.dictionary(**attributes), regions=[body])
    module = xla.parse(module_file(file, [function]))
    (result,) = xla.evaluate(module, np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(result, [2, 4, 6])
    assert isinstance(parse_bytecode(memoryview(add_file())), Module)


def test_many_locations_that_can_not_be_read_leave_the_others() -> None:
    file = BytecodeFile()
    broken = [file.attribute("builtin", varint(14) + varint(file.attribute("builtin", varint(99)))) for _ in range(200)]
    place = file.attribute("builtin", varint(11) + varint(file.text("model.py")) + varint(3) + varint(7))
    ops = [file.op("func.return", location=location) for location in [*broken, place]]
    found = [op.location for op in parse_bytecode(module_file(file, ops)).others]
    assert found == [SourceLocation()] * 200 + [SourceLocation("model.py", 3, 7)]
