"""A new op or element type needs only its entries in the tables.

Each test adds the lines that a contributor would write to the sources, in a process that imports xla_core with these
lines, and runs a program there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

_CHILD = textwrap.dedent(
    """
    import importlib.machinery, json, sys, textwrap

    edits = json.loads(sys.argv[1])

    class Edited(importlib.machinery.SourceFileLoader):
        def get_code(self, name):
            source = self.get_data(self.get_filename(name)).decode()
            for anchor, text in edits[name]:
                assert anchor in source, (name, anchor)
                source = source.replace(anchor, text + anchor, 1) if anchor else source + textwrap.dedent(text)
            return compile(source, self.get_filename(name), "exec", dont_inherit=True)

    class Finder(importlib.machinery.PathFinder):
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            spec = super().find_spec(name, path, target) if name in edits else None
            if spec is not None:
                spec.loader = Edited(name, spec.origin)
            return spec

    sys.meta_path.insert(0, Finder)
    import numpy as np
    import ml_dtypes
    import xla_core as xla

    def values(program, *arrays):
        module = xla.parse(program)
        results = [xla.evaluate(module, *arrays), xla.evaluate(xla.parse(module.to_text()), *arrays)]
        results += [xla.Client(backend).compile(program)(*arrays) for backend in ("cpu", "template")]
        return [[np.asarray(x) for x in result] for result in results]

    """
)


def run_with(edits: dict[str, list[tuple[str, str]]], code: str) -> None:
    """Runs code in a process where each edit puts text before an anchor, or at the end, of a module's source."""
    program = _CHILD + textwrap.dedent(code)
    command = [sys.executable, "-c", program, json.dumps(edits)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr


def test_an_element_type_is_one_row() -> None:
    row = ('    U2 = "u2"', '    U1 = "u1", 31\n')
    run_with(
        {"xla_core.hlo.values.element_type": [row]},
        """
        program = '''
        func.func @main(%x: tensor<4xui1>, %y: tensor<4xui1>) -> (tensor<4xui1>, tensor<4xf32>, tensor<4xi1>) {
          %one = stablehlo.constant dense<1> : tensor<4xui1>
          %0 = stablehlo.add %x, %one : tensor<4xui1>
          %1 = stablehlo.convert %0 : (tensor<4xui1>) -> tensor<4xf32>
          %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xui1>
          %3 = stablehlo.multiply %2, %y : tensor<4xui1>
          %4 = stablehlo.compare LT, %x, %y : (tensor<4xui1>, tensor<4xui1>) -> tensor<4xi1>
          return %3, %1, %4 : tensor<4xui1>, tensor<4xf32>, tensor<4xi1>
        }'''
        x, y = np.array([[0, 1, 0, 1], [0, 0, 1, 1]]).astype(ml_dtypes.uint1)
        for product, converted, less in values(program, x, y):
            assert product.dtype == ml_dtypes.uint1
            assert product.astype(int).tolist() == [0, 0, 1, 0]
            assert converted.tolist() == [1, 0, 1, 0]
            assert less.tolist() == [False, False, True, False]
        from xla_core.stablehlo.table.type_constraints import INTEGER
        assert "1/2/4/8/16/32/64-bit integer" in str(INTEGER)

        from xla_conformance.ops.cases import generate
        from xla_core.hlo import ElementType, Opcode
        products_and_sums = [Opcode.DOT, Opcode.CONVOLUTION, Opcode.REDUCE]
        cases = [c for c in generate(opcodes=products_and_sums) if c.element_type is ElementType("u1")]
        assert {c.opcode for c in cases} == set(products_and_sums)
        assert all(c.arguments() for c in cases)
        """,
    )


def test_a_combiner_is_its_entry() -> None:
    op = """
        _op(Opcode.GCD, 2, _INTEGERS, np.gcd, *_SYMMETRIC, identity=lambda t: 0, doc="The greatest common divisor.")
        """
    edits = {
        "xla_core.hlo.table.opcode": [('    IMAG = "imag"', '    GCD = "gcd"\n')],
        "xla_core.hlo.ops.elementwise": [("", op)],
    }
    run_with(
        edits,
        """
        module = xla.parse('''
        HloModule m
        gcd { a = s32[] parameter(0) b = s32[] parameter(1) ROOT g = s32[] gcd(a, b) }
        ENTRY e {
          x = s32[2,30] parameter(0)
          z = s32[] constant(0)
          i = s32[2,1] constant({{1},{1}})
          r = s32[2] reduce(x, z), dimensions={1}, to_apply=gcd
          w = s32[2,28] reduce-window(x, z), window={size=1x3}, to_apply=gcd
          s = s32[2] scatter(r, i, r), update_window_dims={}, inserted_window_dims={0},
              scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=gcd
          ROOT t = (s32[2], s32[2,28], s32[2]) tuple(r, w, s)
        }''')
        x = np.random.default_rng(0).integers(1, 20, (2, 30)).astype(np.int32) * np.int32([[12], [18]])
        reduced, windows, scattered = xla.evaluate(module, x)
        expected = np.gcd.reduce(x, axis=1)
        assert reduced.tolist() == expected.tolist()
        assert windows.tolist() == np.gcd(np.gcd(x[:, :-2], x[:, 1:-1]), x[:, 2:]).tolist()
        assert scattered.tolist() == [expected[0], np.gcd(expected[0], expected[1])]
        """,
    )


def test_an_elementwise_op_is_its_entries_and_its_formula() -> None:
    op = """
        _op(Opcode.HYPOT, 2, _FLOATS, elementary._function(np.hypot), Trait.COMMUTATIVE, doc="The norm of (a, b).")
        """
    formula = """
        @function("hypot")
        def hypot(m, x, y):
            x, y = m.abs(x), m.abs(y)
            large, small = m.maximum(x, y), m.select(m.fcmp("olt", x, y), x, y)
            ratio = m.choose(m.equal(large, 0.0), 0.0, m.div(small, large))
            return m.mul(large, m.sqrt(m.fma(ratio, ratio, m.constant(1.0, x))))
        """
    stablehlo = """
        define(
            "chlo.hypot",
            "lhs rhs",
            rule=same_type,
            lower=OneOp(Opcode.HYPOT),
            types=FLOAT,
            type_traits=("compatible-types",),
            assembly=CHLO_BINARY_ASSEMBLY,
        )
        """
    edits = {
        "xla_core.hlo.table.opcode": [('    IMAG = "imag"', '    HYPOT = "hypot"\n')],
        "xla_core.hlo.ops.elementwise": [("", op)],
        "xla_core.elementary.special": [("", formula)],
        "xla_core.stablehlo.ops.chlo": [("", stablehlo)],
    }
    run_with(
        edits,
        """
        from xla_core.stablehlo import read, write_portable_artifact, write_text
        from xla_core.stablehlo.reference.examples import op_example

        program = '''
        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = chlo.hypot %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }'''
        x, y = np.float32([3, 0, 1e38, 5]), np.float32([4, 0, 1e38, -12])
        for (found,) in values(program, x, y):
            np.testing.assert_allclose(found, np.hypot(x, y), rtol=1e-6)
        assert "chlo.hypot %" in write_text(read(program))
        artifact = xla.parse(write_portable_artifact(read(program)))
        np.testing.assert_allclose(xla.evaluate(artifact, x, y)[0], np.hypot(x, y), rtol=1e-6)
        assert "chlo.hypot" in op_example("chlo.hypot").text
        """,
    )
