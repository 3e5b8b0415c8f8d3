"""The values that a kernel context caches, and the place of its code."""

from __future__ import annotations

import pytest

from tests.xla_core.codegen.llvm.kernels import host_abi
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, Value, compile_ir
from xla_core.codegen.llvm.loops.context import EmissionContext


@pytest.fixture
def context() -> EmissionContext:
    module = IrModule("test")
    function = module.add_function(IrFunction("f", "void", [("i64", "", "n"), ("i1", "", "c")]))
    return EmissionContext(IrBuilder(module, function), host_abi())


def parsed(context: EmissionContext) -> str:
    """The module's text, which LLVM accepts."""
    context.builder.ret()
    text = context.builder.module.to_text()
    compile_ir(text, context.abi)
    return text


def test_a_value_is_known_to_the_end_of_the_loop_that_knows_it(context: EmissionContext) -> None:
    b = context.builder
    n = b.function.parameters[0]
    context.remember("outer", n)

    def body(index: Value, _: list[Value]) -> list[Value]:
        context.remember("inner", index)
        assert context.find("outer") is n
        assert context.find("inner") is index
        return []

    context.loop(b.int_(0), n, body)
    assert context.find("outer") is n
    assert context.find("inner") is None
    parsed(context)


def test_code_is_hoisted_out_of_loops_but_not_out_of_conditions(context: EmissionContext) -> None:
    b = context.builder
    n, condition = b.function.parameters

    def body(index: Value, _: list[Value]) -> list[Value]:
        with context.hoisted(0):
            once = b.mul(n, n)
            context.remember("once", once)
        assert context.find("once") is once  # from outside of the loop

        def guarded() -> None:
            with context.hoisted(0):
                b.mul(once, index)  # may only run where the condition holds

        context.when(condition, guarded)
        return []

    context.loop(b.int_(0), n, body)
    blocks = {block.label: "\n".join(block.lines) for block in b.function.blocks}
    assert "mul i64 %n, %n" in blocks["entry"]
    (then,) = (text for label, text in blocks.items() if label.startswith("then"))
    assert "mul i64" in then
    parsed(context)


def test_only_one_side_of_a_choice_runs(context: EmissionContext) -> None:
    b = context.builder
    n, condition = b.function.parameters
    assert [v.name for v in context.choose(b.bool_(True), lambda: [n], lambda: pytest.fail("written"))] == ["%n"]
    (chosen,) = context.choose(condition, lambda: [b.add(n, b.int_(1))], lambda: [b.int_(7)])
    assert f"{chosen.name} = phi i64" in parsed(context)
