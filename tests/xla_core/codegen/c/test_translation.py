"""LLVM IR to C, as text. `tests/backends/cpu/machine_code/test_c.py` runs it."""

from __future__ import annotations

import re

import pytest

from xla_core.codegen.c import CTarget, prepare_ir, translate
from xla_core.errors import UnimplementedError

SUM = """
define i32 @sum(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %p = getelementptr inbounds i32, ptr %x, i64 %i
  %v = load i32, ptr %p, align 4
  %t = add nsw i32 %s, %v
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %t
}
"""
SUM_IN_C = """
uint32_t sum(char *x, uint64_t n) {
  uint64_t i;
  uint32_t s;
  i = 0ull;
  s = 0u;
loop:;
  char *p = x + (ptrdiff_t)(4 * i);
  uint32_t v = load_u32_4(p);
  uint32_t t = s + v;
  uint64_t next = i + 1ull;
  bool more = next < n;
  if (more) { i = next; s = t; goto loop; }
  return t;
}
"""


def function(body: str, signature: str = "void @f(ptr %p)", also: str = "") -> str:
    """The C function of the lines of one block."""
    text = translate(f"{also}\ndefine {signature} {{\n{body}\n}}\n").text
    return text[text.rindex("\n\n") :].strip()


def test_a_loop_is_labels_and_gotos() -> None:
    assert SUM_IN_C in translate(SUM).text


def test_phis_that_read_each_other_change_at_once() -> None:
    text = translate("""
define i32 @turns(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = phi i32 [ 1, %entry ], [ %b, %loop ]
  %b = phi i32 [ 2, %entry ], [ %a, %loop ]
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %a
}""").text
    assert "uint32_t a_old = a; i = next; a = b; b = a_old; goto loop;" in text


def test_products_of_sign_extended_numbers_are_signed() -> None:
    """GCC 12 vectorizes the high half of the same product of unsigned numbers wrongly."""
    lines = "%a = sext i16 %x to i32\n%b = sext i16 %y to i32\n"
    signature = "i32 @f(i16 %x, i16 %y, i32 %z)"
    assert "(uint32_t)((int32_t)a * (int32_t)b)" in function(f"{lines}%r = mul i32 %a, %b\nret i32 %r", signature)
    assert "(uint32_t)((int32_t)a * (int32_t)" in function(f"{lines}%r = mul i32 %a, -3\nret i32 %r", signature)
    assert "r = a * z" in function(f"{lines}%r = mul i32 %a, %z\nret i32 %r", signature)
    assert "r = a * 70000" in function(f"{lines}%r = mul i32 %a, 70000\nret i32 %r", signature).replace(
        "0x11170", "70000"
    )


@pytest.mark.parametrize(
    ("line", "c"),
    [
        ("%r = mul i16 %a, %a", "uint16_t r = (uint32_t)a * a;"),
        ("%r = add i24 %a, 1", "uint32_t r = (a + 1u) & 0xffffffu;"),
        ("%r = shl i32 %a, 3", "uint32_t r = a << 3;"),
        ("%r = shl i32 %a, %a", "uint32_t r = a << (a & 31);"),
        ("%r = ashr i8 %a, 2", "uint8_t r = (uint8_t)((int8_t)a >> 2);"),
        ("%r = sdiv i64 %a, %a", "uint64_t r = (uint64_t)((int64_t)a / (int64_t)a);"),
        ("%r = sext i4 %a to i32", "uint32_t r = (uint32_t)((int8_t)(uint8_t)(a << 4) >> 4);"),
        ("%r = sitofp i1 %a to float", "float r = (float)(a ? -1 : 0);"),
        ("%r = icmp slt i32 %a, 5", "bool r = (int32_t)a < (int32_t)5u;"),
        ("%r = fcmp ueq float %a, %a", "bool r = !((a < a) | (a > a));"),
        ("%r = fcmp ult double %a, 1.0", "bool r = !(a >= 1.0);"),
        ("%r = fmul float %a, 0x3FB99999A0000000", "float r = a * 0x1.99999a0000000p-4f;"),
        ("%r = call i32 @llvm.umin.i32(i32 %a, i32 7)", "uint32_t r = a < 7u ? a : 7u;"),
        ("%r = call i32 @llvm.fshl.i32(i32 %a, i32 %a, i32 13)", "uint32_t r = (a << 13) | (a >> 19);"),
        (
            "%r = call i8 @llvm.sadd.sat.i8(i8 %a, i8 1)",
            "uint8_t r = (((~(a ^ 1) & (a ^ ((uint8_t)(a + 1)))) >> 7) & 1) ? ((a >> 7) ? 128 : 127) : ((uint8_t)(a + 1));",
        ),
        ("%r = getelementptr {i8, [4 x i64]}, ptr %p, i64 1, i32 1, i64 2", "char *r = p + 64;"),
        ("%r = fadd <4 x float> %a, %a", "xla_f32x4 r = fadd_f32x4(a, a);"),
        ("%r = freeze i32 %a", "uint32_t r = a;"),
    ],
)
def test_an_instruction(line: str, c: str) -> None:
    type_ = re.search(r"(?:^%r = (?:call \S+ @\S+\(|\w+ (?:s\w\w |u\w\w )?)?)(<4 x float>|i\d+|float|double)", line)
    taken = type_[1] if type_ and "getelementptr" not in line else "i32"
    result = {"char": "ptr", "bool": "i1", "float": "float", "xla_f32x4": "<4 x float>"}.get(c.split()[0], "")
    stored = result or next(f"i{n}" for n in (8, 16, 32, 64) if c.startswith(f"uint{n}_t"))
    if "i24" in line:
        stored = "i24"
    kept = f"  {line}\n  call void @use({stored} %r)\n  ret void"
    declared = f"declare void @use({stored})"
    assert f"\n  {c}\n" in function(kept, f"void @f({taken} %a, ptr %p)", declared)


_KERNEL = """
define void @f(ptr %p) {
  %a = load ptr, ptr %p, align 8, !invariant.load !0, !dereferenceable !1
  %q = getelementptr ptr, ptr %p, i64 1
  %b = load ptr, ptr %q, align 8, !invariant.load !0, !dereferenceable !1
  %v = load i8, ptr %a, align 1
  store i8 %v, ptr %b, align 1
  ret void
}"""


def test_kernels_read_buffers_as_restricted_pointers() -> None:
    text = translate(_KERNEL).text
    assert "f_on(char *restrict a, char *restrict b, char *p)" in text
    assert "f_on(load_ptr_8(p), load_ptr_8(p + 8), p);" in text


def test_vectors_that_are_structures_are_copied() -> None:
    """GCC warns of attributes of structures, and ignores them."""
    lines = "%v = load <1 x float>, ptr %p, align 4\nstore <1 x float> %v, ptr %p, align 4\nret void"
    text = translate(f"define void @f(ptr %p) {{\n{lines}\n}}\n").text
    for name in ("load", "store"):
        body = text[text.index(f"{name}_f32x1_4(") :]
        assert "memcpy(" in body[: body.index("\n}")]
        assert "__attribute__" not in body[: body.index("\n}")]


def test_constants_are_in_the_order_of_bytes_of_the_target() -> None:
    table = "@t = private constant [2 x i32] [i32 1, i32 2], align 16\ndefine ptr @f() {\n  ret ptr @t\n}"
    assert "XLA_ALIGNED(16) uint64_t t[1] = {\n  0x200000001}" in translate(table).text
    assert "uint64_t t[1] = {\n  0x100000002}" in translate(table, CTarget(8, big_endian=True)).text


def test_backslashes_in_tables_are_read_as_llvm_writes_them() -> None:
    for text in (r'@t = private constant [4 x i8] c"\5C\\\22a"', r'@t = private constant [4 x i8] c"\\\5c\22a"'):
        assert "t[1] = {\n  0x61225c5c}" in translate(text).text


def test_imported_functions_are_called_through_variables() -> None:
    text = "declare i32 @host(ptr, i64)\ndefine i32 @f(ptr %p) {\n  %r = call i32 @host(ptr %p, i64 3)\n  ret i32 %r\n}"
    source = translate(text, imported=lambda name: name == "host")
    assert source.imports == {"host": "uint32_t (*xla_import_host)(char *, uint64_t)"}
    assert "uint32_t r = xla_import_host(p, 3ull);" in source.text


@pytest.mark.parametrize(
    ("type_", "line", "named"),
    [
        ("half", "%r = fadd half %h, %h", "half"),
        ("i32", "%r = va_arg ptr %p, i32", "va_arg"),
        ("i32", "%r = call i32 @llvm.vp.reduce.add.v4i32(i32 0)", "llvm.vp.reduce.add"),
        ("i32", "%r = load <vscale x 4 x float>, ptr %p", "only the processor knows"),
        ("i24", "%r = load i24, ptr %p", "layout in memory of i24"),
        ("ptr", "%r = alloca i8, i64 %n", "size that varies"),
        ("float", "%r = atomicrmw fadd ptr %p, float 1.0 monotonic", "atomicrmw fadd"),
        ("<2 x ptr>", "%r = getelementptr i8, <2 x ptr> %q, i64 1", "vectors of addresses"),
    ],
)
def test_what_is_not_translated_is_named(type_: str, line: str, named: str) -> None:
    declared = f"declare i32 @llvm.vp.reduce.add.v4i32(i32)\ndeclare void @use({type_})"
    body = f"  {line}\n  call void @use({type_} %r)\n  ret void"
    with pytest.raises(UnimplementedError, match=named):
        function(body, "void @f(ptr %p, half %h, i64 %n, <2 x ptr> %q)", declared)


def test_passes_shorten_the_code_and_add_no_vectors() -> None:
    text = "define i32 @f(i32 %a) {\n  %b = add i32 %a, 1\n  %c = add i32 %b, 2\n  ret i32 %c\n}"
    assert "add i32 %a, 3" in prepare_ir(text)
    assert "add i32 %b, 2" in prepare_ir(text, level=0)
    assert "<" not in prepare_ir(SUM).partition("define")[2]
    assert "p:32:32" in prepare_ir(text, CTarget(4, big_endian=True))
