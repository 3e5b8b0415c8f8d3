"""The IR builder, the compiler around LLVM, and what the emitter refuses."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import array, emit, f32, fuse, host_abi
from tests.xla_core.codegen.llvm.test_neutrality import TARGETS
from xla_core.codegen.llvm import (
    IrBuilder,
    IrFunction,
    IrModule,
    IrPart,
    KernelEmitter,
    LoopAbi,
    Value,
    compile_ir,
    compile_objects,
)
from xla_core.errors import InternalError, UnimplementedError
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.hlo.values.shape import Layout


def new_builder() -> IrBuilder:
    module = IrModule("test")
    function = module.add_function(IrFunction("f", "void", [("ptr", "noalias", "p"), ("i64", "", "n")]))
    return IrBuilder(module, function)


def test_integer_constants_fold() -> None:
    b = new_builder()
    n = b.function.parameters[1]
    assert b.mul(n, b.int_(1)) is n
    assert b.add(n, b.int_(0)) is n
    assert b.mul(n, b.int_(0)).integer == 0
    assert b.add(b.int_(127, "i8"), b.int_(1, "i8")).integer == -128
    assert b.urem(n, b.int_(1)).integer == 0
    assert b.icmp("slt", b.int_(-1), b.int_(0)).name == "true"
    assert not b.block.lines


def test_a_value_that_is_used_already_becomes_a_phi() -> None:
    b = new_builder()
    pointer, n = b.function.parameters
    entry, header, after = b.block, b.function.add_block("header"), b.function.add_block("after")
    b.branch(header)
    b.block = header
    place, doubled = Value("i64", b.function.fresh()), Value("i64", b.function.fresh())
    following, twice = b.add(place, b.int_(1)), b.add(doubled, doubled)
    b.branch_if(b.icmp("ult", following, n), header, after)
    b.define_phi(place, header, (b.int_(0), entry), (following, header))
    b.define_phi(doubled, header, (b.int_(1), entry), (twice, header))
    b.block = after
    b.store(twice, pointer, align=8)
    b.ret()
    text = b.module.to_text()
    assert re.findall(r"(%v\d+) = phi i64", text) == [place.name, doubled.name]
    compile_ir(text, host_abi())


def test_loops_carry_values_and_code_moves_out_of_them() -> None:
    b = new_builder()
    pointer, n = b.function.parameters
    outer, _ = b.open_loop(b.int_(0), n)
    inner, (total,) = b.open_loop(b.int_(0), b.int_(8), carried=[b.float_(0.0)])
    with b.at_level(1):
        invariant = b.load("float", b.gep("float", pointer, outer.index), align=4)
    (total,) = b.close_loop(inner, [b.fadd(total, invariant)])
    b.store(total, b.gep("float", pointer, outer.index), align=4)
    b.close_loop(outer)
    b.ret()
    text = b.module.to_text()
    assert text.index("load float") < text.index("fadd float")
    assert compile_ir(text, LoopAbi(), 1)


@pytest.mark.parametrize(("end", "step", "once"), [(8, 8, True), (8, 9, True), (8, 7, False), (0, 4, True)])
def test_a_loop_whose_step_leads_beyond_its_end_runs_once(end: int, step: int, once: bool) -> None:
    b = new_builder()
    loop, _ = b.open_loop(b.function.parameters[1], b.int_(end), b.int_(step))
    b.store(loop.index, b.function.parameters[0])
    b.close_loop(loop)
    b.ret()
    text = b.module.to_text()
    assert len(re.findall(r"br label %loop\.1\b", text)) == (1 if once else 2)
    compile_ir(text, host_abi())


def test_a_pred_from_memory_is_held_as_its_byte() -> None:
    """LLVM keeps an i1 that waits as an i1, which takes two scalar registers of AMD's GPUs."""
    b = new_builder()
    byte = b.load("i8", b.function.parameters[0])
    held = b.held(b.from_byte(byte))
    assert b.block.lines[-1].startswith(f"{held.name} = and i8 {byte.name}, 1")
    other = b.icmp("eq", b.function.parameters[1], b.int_(0))
    assert b.held(other).type == "i8"
    assert b.held(held) is held


def test_metadata_and_constants_are_shared() -> None:
    module = IrModule("m")
    assert module.metadata("!{}") == module.metadata("!{}")
    assert module.metadata("!{$self}", distinct=True) != module.metadata("!{$self}", distinct=True)
    assert module.constant_bytes(b"ab\0", 1) is module.constant_bytes(b"ab\0", 1)
    assert 'c"ab\\00"' in module.to_text()


def test_a_function_is_added_once() -> None:
    module = IrModule("m")
    module.add_function(IrFunction("f", "void", []))
    with pytest.raises(InternalError, match="in the LLVM module already"):
        module.add_function(IrFunction("f", "void", []))


def test_refused_ir_names_the_kernel_and_the_line() -> None:
    with pytest.raises(InternalError, match=r"(?s)IR of softmax.*%x = fadd i32 1, 2") as caught:
        compile_ir("define void @f() {\n  %x = fadd i32 1, 2\n  ret void\n}", LoopAbi(), what="softmax")
    assert "defect of the emitter or of the target" in str(caught.value)
    with pytest.raises(InternalError, match="no target machine"):
        compile_ir("", LoopAbi("nonsense-unknown-unknown")).assembly()


def test_several_threads_may_compile() -> None:
    _, text = emit(fuse(lambda c, x: c.add("tanh", x), f32(64)))
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(compile_ir(text, host_abi()).ir())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1


def test_several_kernels_in_one_module() -> None:
    emitter = KernelEmitter(host_abi())
    first = emitter.emit(fuse(lambda c, x: c.add("negate", x), f32(64)), "one")
    second = emitter.emit(fuse(lambda c, x: c.add("sqrt", x), f32(64)), "two")
    text = emitter.module.to_text()
    assert f"@{first.name}(" in text
    assert f"@{second.name}(" in text
    assert compile_ir(text, host_abi())


def split_module() -> IrModule:
    """An entry that calls two kernels and an internal function, which shares a variable with another function."""
    module = IrModule("m", triple=host_abi().triple)
    module.add_global("counter", "internal global i64 0, align 8")
    for name in ("one", "two"):
        builder = IrBuilder(module, module.add_function(IrFunction(name, "void", [("ptr", "noalias", "p")])))
        table = module.constant_bytes(b"shared by both", 1)
        note = module.metadata(f"!{{i64 7, {module.metadata('!{}')}}}")
        builder.store(
            builder.load("i8", table, align=1, metadata=f", !note {note}"), builder.function.parameters[0], align=1
        )
        builder.ret()
    for name, prefix in (("hidden", "internal"), ("entry", ""), ("other", "")):
        function = module.add_function(IrFunction(name, "i64", [("ptr", "", "p")], prefix=prefix))
        builder = IrBuilder(module, function)
        if name == "entry":
            for callee in ("one", "two"):
                builder.line(f"call void @{callee}(ptr %p)")
            builder.line("%status = call i64 @hidden(ptr %p)")
        builder.emit("i64", "atomicrmw add ptr @counter, i64 1 monotonic, align 8")
        builder.ret(builder.int_(1))
    return module


def test_a_split_module_keeps_together_what_shares_state() -> None:
    module = split_module()
    parts = [part.text for part in module.split(lines=5)]
    assert len(parts) == 3
    defined = [set(re.findall(r"define .*@(\w+)\(", part)) for part in parts]
    assert sorted(map(sorted, defined)) == [["entry", "hidden", "other"], ["one"], ["two"]]
    for part, names in zip(parts, defined, strict=True):
        assert ("@counter = " in part) == ("entry" in names)
        assert ("shared by both" in part) == ("entry" not in names)
        assert part.count("declare void") == (2 if "entry" in names else 0)
        assert compile_ir(part, host_abi())
    assert module.split(lines=1000) == [IrPart(module.to_text())]


@pytest.mark.parametrize(("kind", "lines"), [("optimized", 20), ("plain", 40)])
def test_optimized_and_plain_functions_are_apart_if_they_are_many_lines(kind: str, lines: int) -> None:
    module = split_module()
    for name in ("hidden", "entry", "other", "two"):
        setattr(module.functions[name], kind, True)
    parts = module.split(lines=lines)
    defined = {getattr(part, kind): set(re.findall(r"define .*@(\w+)\(", part.text)) for part in parts}
    assert defined == {False: {"one"}, True: {"two", "entry", "hidden", "other"}}
    assert [getattr(part, kind) for part in module.split(lines=1000)] == [False]


def test_a_small_module_of_plain_functions_has_no_passes() -> None:
    module = split_module()
    for function in module.functions.values():
        function.plain = True
    assert [(part.plain, part.optimized) for part in module.split(lines=1000)] == [(True, True)]


def test_the_text_of_a_shared_function_is_that_in_other_modules() -> None:
    shared = []
    for name in ("first", "second"):
        module = IrModule(name, triple=split_module().triple) if name == "first" else split_module()
        function = module.add_function(IrFunction("pack", "float", [("float", "", "x")]))
        function.shared = True
        builder = IrBuilder(module, function)
        builder.ret(builder.intrinsic("sqrt", builder.intrinsic("fabs", function.parameters[0])))
        parts = [part for part in module.split(lines=1000) if part.shared]
        assert len(parts) == 1
        shared += parts
    assert shared[0] == shared[1]
    assert compile_objects(shared[:1], host_abi())[0] is compile_objects(shared[1:], host_abi())[0]


def test_objects_do_not_depend_on_the_threads() -> None:
    parts = split_module().split(lines=5)
    alone = compile_objects(parts, host_abi())
    assert compile_objects(parts, host_abi(), threads=3) == alone
    assert [code[:4] for code in alone] == [b"\x7fELF"] * 3
    with pytest.raises(InternalError, match="IR of softmax"):
        compile_objects([*parts, IrPart("define nonsense")], host_abi(), what="softmax", threads=2)


def test_an_instruction_alone() -> None:
    computation = HloComputation("c")
    add = computation.add("add", computation.parameter(0, f32(8)), computation.parameter(1, f32(8)))
    emitter = KernelEmitter(host_abi())
    kernel = emitter.emit(add)
    assert [p.is_result for p in kernel.parameters] == [False, False, True]
    assert compile_ir(emitter.module.to_text(), host_abi())


def test_what_cannot_be_emitted_says_so() -> None:
    with pytest.raises(UnimplementedError, match="no element generator for fft"):
        emit(fuse(lambda c, x: c.add("fft", x, fft_type="FFT", fft_length=(8,)), array(T.C64, 8)))
    with pytest.raises(UnimplementedError, match="tiled layout"):
        emit(fuse(lambda c, x: c.add("negate", x), f32(8, 8).with_layout(Layout((1, 0), tiles=((8, 8),)))))


def test_constants_of_every_type_keep_their_bits() -> None:
    from tests.xla_core.codegen.llvm.kernels import Loaded
    from xla_core.hlo.values.literal import Literal

    for t in (T.F16, T.BF16, T.F32, T.F64, T.F8E5M2, T.S4, T.U64, T.PRED, T.C64):
        for value in (0, 1, np.nan, -2, np.inf) if t.is_floating else (0, 1):
            literal = Literal(np.asarray([value]).astype(t.dtype)[0], array(t))
            instruction = fuse(
                lambda c, x, v=literal, t=t: c.add("broadcast", c.constant(v), shape=array(t, 4), dimensions=()),
                array(t, 4),
            )
            (got,) = Loaded(instruction, opt_level=0)(np.zeros(4, t.dtype))
            assert got.tobytes() == np.full(4, literal.array).tobytes(), (t, value)


def test_a_modules_name_stays_in_its_comment() -> None:
    assert IrModule("two\nlines").to_text().splitlines()[0] == "; ModuleID = 'two\\nlines'"


@pytest.mark.parametrize("name", ["a-b", "a.b", "1x", "a b", "\u00e9", "", "plain"])
def test_kernel_names_are_what_every_assembler_takes(name: str) -> None:
    for target, (abi, _, _) in TARGETS.items():
        emitter = KernelEmitter(abi)
        fusion = fuse(lambda c, x: c.add("negate", x), f32(8))
        first, second = emitter.emit(fusion, name), emitter.emit(fusion, name)
        assert first.name != second.name
        assert all(re.fullmatch(r"[A-Za-z_]\w*", n, re.ASCII) for n in (first.name, second.name))
        assembly = compile_ir(emitter.module.to_text(), abi).assembly()
        assert all(re.search(rf"\b{n}\b", assembly) for n in (first.name, second.name)), target


def test_a_kernel_has_no_name_that_the_module_declares() -> None:
    emitter = KernelEmitter(LoopAbi())
    emitter.module.declare("fmod", "double", ["double", "double"])
    kernel = emitter.emit(fuse(lambda c, x: c.add("negate", x), f32(8)), "fmod")
    assert kernel.name == "fmod_1"


def test_constants_are_folded_alike_whether_written_signed_or_unsigned() -> None:
    b = new_builder()
    for text in ("-7", str(2**32 - 7)):
        value = Value("i32", text)
        assert b.cast("sext", value, "i64").integer == -7
        assert b.cast("zext", value, "i64").integer == 2**32 - 7
        assert b.icmp("slt", value, b.int_(0, "i32")).name == "true"
