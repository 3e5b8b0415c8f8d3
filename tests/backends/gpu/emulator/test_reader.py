"""The reader of PTX: what it makes of text, and what it refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from xla_backend_gpu.emulator import EmulatorFault, FaultKind, Memory, Module, Parameter
from xla_backend_gpu.emulator.ptx.program import Function, Instruction
from xla_backend_gpu.emulator.ptx.reader import read

from xla_core.errors import InvalidArgumentError, UnimplementedError, XlaError

HEADER = ".version 7.8\n.target sm_90\n.address_size 64\n"


def kernel(body: str, head: str = "", before: str = "") -> str:
    return f"{HEADER}{before}\n.visible .entry k(.param .u64 k_0, .param .u32 k_1) {head}\n{{\n{body}\nret;\n}}\n"


def test_what_a_module_says_of_its_kernels() -> None:
    text = kernel(
        ".reg .b32 %r<4>;\n.shared .align 16 .b8 s[64];\n.local .align 8 .b8 depot[24];\nmov.b32 %r1, 7;",
        ".reqntid 128, 2",
    )
    info = Module(text).kernels["k"]
    assert info.parameters == (Parameter("k_0", 8, 0), Parameter("k_1", 4, 8))
    assert info.reqntid == (128, 2, 1)
    assert (info.shared_bytes, info.local_bytes, info.registers) == (64, 24, 4)
    assert info.lines == (5, 12)


BODY = """.reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .f32 %f<3>;
.shared .align 16 .b8 s[64];
ld.param.u64 %rd1, [k_0];
mov.u32 %r1, %tid.x; mov.b32
  %r2, -7;
again: setp.lt.and.u32 %p1|%p2, %r1, 0x1F, !%p3;
setp.eq.f32 %p3, %f1, 0f3F800000;
@!%p1 add.s32 %r3, %r1, %r2; // of some threads
@%p2 st.global.v2.b32 [%rd1+8], {%r1, %r2};
mov.b64 {_, %r4}, %rd1;
{ .reg .b32 %r1; mov.u32 %r1, 5; ld.shared.b32 %r5, [s+-4]; }
shfl.sync.bfly.b32 %r6|%p1, %r1, 1, 31, -1;
ld.volatile.shared::cta.b32 %r7, [s]; mov.u64 %rd2, s+4;
add.u32 %r1, %r1, 1;
@%p1 bra again;"""


def test_statements_that_are_read_at_once_are_read_the_same_by_tokens() -> None:
    """A comment before the semicolon makes the reader go through a statement's tokens."""
    at_once, by_tokens = (read(kernel(text))["k"] for text in (BODY, BODY.replace(";", "/* */;")))

    def plain(function: Function) -> list[object]:
        """Instructions without their text. The variables of two readings are different objects."""
        return [str(dataclasses.replace(i, text="")) if isinstance(i, Instruction) else i for i in function.body]

    assert plain(at_once) == plain(by_tokens)
    assert len(at_once.body) == 17
    assert [i.line for i in at_once.body if isinstance(i, Instruction)][:4] == [9, 10, 10, 12]


def test_lines_that_are_read_at_once_are_read_the_same_by_tokens() -> None:
    """A comment at a line's end makes the reader go through its tokens. Lines that follow each other are one run."""
    body = """.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .b32 s;
.loc 1 7 3
again:
\tmov.b32 \t%r1, -5;

  @!%p1 ld.shared.b32 %r2, [s+-4];
.loc\t2 8 0
st.global.v2.b32 [%rd1+8], {%r1, %r2};
atom.shared.add.u32 %r3, [s], 7;
ld.param.u64 %rd1, [k_1];
@%p1 bra again;
ret;"""
    files = '.file 1 "f.py"\n'
    lines, tokens = (read(files + kernel(text))["k"].body for text in (body, body.replace("\n", " // \n")))
    assert len(lines) == 9

    def plain(item: object) -> str:
        return str(dataclasses.replace(item, text="") if isinstance(item, Instruction) else item)

    assert [plain(item) for item in lines] == [plain(item) for item in tokens]
    assert [(str(i.location), i.text) for i in lines if isinstance(i, Instruction)][:3:2] == [
        ("f.py:7:3", "mov.b32 %r1, -5;"),
        ("2:8", "st.global.v2.b32 [%rd1+8], {%r1, %r2};"),
    ]


def test_a_long_list_of_numbers_in_an_initializer() -> None:
    """It is one token. The lines after it still count."""
    words = ", ".join(map(str, range(65530, 65536))) + ",\n" + ", ".join(map(str, range(20)))
    before = f".global .align 2 .u16 table[30] = {{{words}}};\n"
    body = ".reg .b64 %rd<2>; .reg .b16 %h<2>;\nld.param.u64 %rd1, [k_0];\nld.global.u16 %h1, [table+10];\n"
    body += "st.global.u16 [%rd1], %h1;\nld.global.u16 %h1, [table+12];\nst.global.u16 [%rd1+2], %h1;\n"
    body += "ld.global.u16 %h1, [table+50];\nst.global.u16 [%rd1+4], %h1;\nld.global.u16 %h1, [table+52];\n"
    module = Module(kernel(body + "st.global.u16 [%rd1+6], %h1;", before=before))
    assert module.kernels["k"].lines[0] == 7
    memory = Memory(1 << 16)
    address = memory.allocate(8)
    assert address is not None
    module.launch("k", (1,), (1,), [address, 0], memory)
    assert np.frombuffer(memory.read(address, 8), np.uint16).tolist() == [65535, 0, 19, 0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("frobnicate.u32 %r1, %r2;", "does not support frobnicate.u32 with 2 operands"),
        ("add.u32 %r1, %r2;", "does not support add.u32 with 2 operands"),
        ("add.f32.rn %r1, %r2, %r3;", "does not support add.f32.rn"),
        ("add.u64 %r1, %rd1, %rd1;", "%r1 has 32 bits, and type .u64 64"),
        ("add.u32 %rd1, %r1, %r1;", "%rd1 has 64 bits, and type .u32 32"),
        ("setp.eq.b32 %r1, %r2, %r3;", "%r1 is not a predicate"),
        ("add.u32 5, %r1, %r2;", "the result must be a register"),
        ("mov.b32 %q1, 5;", "%q1 is neither a declared register nor a special register"),
        ("ld.global.u32 %r1, %rd1;", "expected an address"),
        ("ld.global.v2.u32 {%r1}, [%rd1];", "a vector of 2 elements is needed, not of 1"),
        ("mov.b32 %r1, 'c';", "unexpected character"),
        ("@%r1 bra done; done:", "a guard must be a predicate register"),
        (".reg .b33 %x;", "is not the type of a register"),
        ("mov.b32 %r1, missing;", "missing is not declared"),
        ("add.u32 %r1|%r2, %r1, %r2;", "no operand after the bar"),
    ],
)
def test_an_error_has_its_line(body: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Module(kernel(f".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n\n{body}"))
    assert message in str(caught.value)
    assert caught.value.location.line == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (kernel("bra nowhere;"), "nowhere is neither a label"),
        (kernel("call missing;"), "has no function missing"),
        (HEADER + ".frob x;", "'.frob' is not a directive"),
        (HEADER + ".entry k(", "is not a state space"),
        (HEADER + ".entry k() {", "expected"),
    ],
)
def test_modules_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(XlaError, match=message):
        Module(text)


def test_recursion_is_refused() -> None:
    with pytest.raises(UnimplementedError, match="f calls itself"):
        Module(kernel("call f;", before=".func f() { call f; ret; }"))


def test_an_unknown_engine() -> None:
    with pytest.raises(InvalidArgumentError, match="checked and fast"):
        Module(kernel(""), engine="quick")  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["checked", "fast"])
def test_a_kernel_declares_48_kib_of_shared_memory_at_most(engine) -> None:
    def launch(declared: int) -> None:
        module = Module(kernel(f".shared .align 16 .b8 s[{declared}]; ret;"), engine=engine)
        module.launch("k", grid=(1, 1, 1), block=(1, 1, 1), arguments=[0, 0], memory=Memory(1 << 16))

    launch(48 << 10)
    with pytest.raises(InvalidArgumentError, match="declares 49168 bytes of shared memory, more than 49152"):
        launch((48 << 10) + 16)


DYNAMIC = """.version 8.0
.target PROCESSOR
.address_size 64
.extern .shared .align 1024 .b8 all[];
.visible .entry k() {
  .reg .b32 %r<2>;
  .shared .align 16 .b8 own[1024];
  mov.b32 %r0, all;
  st.shared.b32 [%r0+65532], %r0;
  st.shared.b32 [own], %r0;
  ret;
}
"""


@pytest.mark.parametrize("engine", ["checked", "fast"])
@pytest.mark.parametrize(("processor", "kib"), [("sm_75", 64), ("sm_80", 163), ("sm_86", 99), ("sm_90a", 227)])
def test_a_launch_has_as_much_shared_memory_as_the_processor(processor: str, kib: int, engine) -> None:
    """What is declared counts too. Nothing is beyond what the launch asks for."""
    module = Module(DYNAMIC.replace("PROCESSOR", processor), engine=engine)

    def launch(size: int) -> None:
        module.launch("k", (1,), (1,), [], Memory(1 << 16), dynamic_shared=size)

    if kib > 64:
        launch(65536)
        launch((kib - 1) << 10)
    most = kib << 10
    with pytest.raises(InvalidArgumentError, match=f"needs {most + 1} bytes .* has {most} at most on {processor}"):
        launch(most - 1024 + 1)
    with pytest.raises(EmulatorFault) as found:
        launch(60 << 10)
    assert found.value.kind is FaultKind.OUT_OF_BOUNDS
