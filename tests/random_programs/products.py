"""Steps of dots, convolutions, normalization, transforms and factorizations."""

from __future__ import annotations

import math

from tests.random_programs.bounds import Value, epsilon, unit, value_range
from tests.random_programs.steps import POWERS, Steps
from xla_core.hlo import ConvolutionDimensionNumbers, ElementType, HloInstruction, Shape, SliceDimension

_ALGORITHMS = {"dot_bf16_bf16_f32": 8, "dot_f16_f16_f32": 11, "dot_tf32_tf32_f32": 11, "dot_f32_f32_f32": 24,
               "dot_bf16_bf16_f32_x3": 16, "dot_bf16_bf16_f32_x6": 24}  # fmt: skip
_WIDER = {ElementType.S8: ElementType.S32, ElementType.U8: ElementType.S32, ElementType.S4: ElementType.S32,
          ElementType.BF16: ElementType.F32, ElementType.F16: ElementType.F32, ElementType.F32: ElementType.F64,
          ElementType.F8E5M2: ElementType.F32, ElementType.F8E4M3FN: ElementType.F32}  # fmt: skip


class ProductSteps(Steps):
    def kinds(self):
        return [*super().kinds(), self.dot, self.dot, self.convolution, self.convolution, self.ragged_dot,
                self.scaled_dot, self.batch_norm, self.fft, self.cholesky, self.triangular_solve]  # fmt: skip

    def product(self, made: HloInstruction, x: Value, y: Value, count: int, scale: float = 1.0) -> None:
        """Keeps a value whose elements are sums of `count` products of elements of x and y."""
        kind = made.shape.element_type
        parts = 2 if kind.is_complex else 1
        total = parts * count * x.bound * y.bound
        if not x.rounds:
            self.keep(made, total)
            return
        error = parts * count * (x.bound * y.error + y.bound * x.error + x.error * y.error)
        grid = None if x.grid is None or y.grid is None else x.grid + y.grid
        if error or not x.fits(total, grid, kind):
            error += parts * (count + 1) * unit(kind) * total
            grid = None
        self.keep(made, total, error, grid)

    def factor(self) -> Value | None:
        return self.pick(lambda v: v.is_usual and v.type not in (ElementType.PRED, POWERS))

    def pairs(self, x: Value, y: Value) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Chooses batch and contracting dimensions of x and y that have equal sizes."""
        pairs = [(i, j) for i, n in enumerate(x.shape.dimensions) for j, m in enumerate(y.shape.dimensions) if n == m]
        self.rng.shuffle(pairs)
        chosen: list[tuple[int, int]] = []
        for i, j in pairs:
            if all(i != a and j != b for a, b in chosen) and self.rng.random() < 0.7:
                chosen.append((i, j))
        split = self.rng.randint(0, len(chosen)) if self.rng.random() < 0.4 else 0
        return chosen[:split], chosen[split:]

    def dot(self) -> None:
        x = self.factor()
        if x is None:
            return
        y = self.pick(lambda v: v.is_usual and v.type is x.type) or x
        batch, contracted = self.pairs(x, y)
        attributes = {
            "lhs_batch_dims": tuple(i for i, _ in batch), "rhs_batch_dims": tuple(j for _, j in batch),
            "lhs_contracting_dims": tuple(i for i, _ in contracted),
            "rhs_contracting_dims": tuple(j for _, j in contracted),
        }  # fmt: skip
        free = [x.shape.dimensions[i] for i, _ in batch]
        free += [n for d, n in enumerate(x.shape.dimensions) if d not in attributes["lhs_contracting_dims"] and d not in attributes["lhs_batch_dims"]]  # fmt: skip
        rest = [m for d, m in enumerate(y.shape.dimensions) if d not in (*attributes["rhs_batch_dims"], *attributes["rhs_contracting_dims"])]  # fmt: skip
        if math.prod(free) * math.prod(rest) > self.max_elements:
            return
        kind = x.type
        if kind in _WIDER and self.rng.random() < 0.3:
            kind = _WIDER[kind]
        elif kind is ElementType.F32 and self.rng.random() < 0.2:
            algorithm = self.rng.choice(list(_ALGORITHMS))
            bits = _ALGORITHMS[algorithm]
            whole = all(v.is_exact and v.grid is not None and v.bound * 2.0**v.grid <= 2.0**bits for v in (x, y))
            if whole:
                attributes["algorithm"] = algorithm
        shape = Shape.array(kind, [*free, *rest])
        made = self.c.add("dot", x.instruction, y.instruction, shape=shape, **attributes)
        self.product(made, x, y, math.prod(x.shape.dimensions[i] for i, _ in contracted))

    def convolution(self) -> None:
        """Adds a convolution, with any roles of the dimensions, and with a kernel that is constant or made from another array."""
        x = self.pick(lambda v: v.is_usual and v.type not in (ElementType.PRED, POWERS) and 2 <= v.shape.rank <= 5
                      and 0 not in v.shape.dimensions)  # fmt: skip
        if x is None:
            return
        rank, rng = x.shape.rank, self.rng
        roles = list(range(rank))
        rng.shuffle(roles)
        batch, feature, spatial = roles[0], roles[1], tuple(roles[2:])
        features, batches = x.shape.dimensions[feature], x.shape.dimensions[batch]
        groups = rng.choice([1, 1, features, *(g for g in (2, 3) if features % g == 0)])
        batch_groups = 1
        if groups == 1 and rng.random() < 0.2:
            batch_groups = rng.choice([g for g in (1, 2, 3, batches) if batches % g == 0])
        outputs = groups * batch_groups * rng.randint(1, 3)
        window = self.window(tuple(x.shape.dimensions[d] for d in spatial), reversal=True)
        order = list(range(rank))
        rng.shuffle(order)
        sizes = [0] * rank
        for place, size in zip(order, [features // groups, outputs, *(w.size for w in window)], strict=True):
            sizes[place] = size
        result = list(range(rank))
        rng.shuffle(result)
        if math.prod(sizes) > self.max_elements:
            return
        kernel_shape = Shape.array(x.type, sizes)
        kernel = (
            self.partner(Value(self.filled(1, kernel_shape), 1)) if rng.random() < 0.5 else self.constant(kernel_shape)
        )
        labels = ConvolutionDimensionNumbers(
            batch, feature, spatial, order[0], order[1], tuple(order[2:]), result[0], result[1], tuple(result[2:])
        )
        made = self.c.add(
            "convolution", x.instruction, kernel.instruction, window=window, dim_labels=labels, feature_group_count=groups,
            batch_group_count=batch_groups,
        )  # fmt: skip
        count = math.prod(w.size for w in window) * features // groups
        overflows = x.type.is_integral and count * x.bound * kernel.bound >= value_range(x.type)
        if overflows and not self.strict:
            return  # XLA saturates what it folds
        if made.shape.num_elements * math.prod(sizes) <= 200 * self.max_elements:
            self.product(made, x, kernel, count)

    def ragged_dot(self) -> None:
        """Adds a product of groups of rows, each with its own matrix."""
        x = self.pick(lambda v: v.is_usual and v.shape.rank == 2 and v.type not in (ElementType.PRED, POWERS))
        if x is None or self.rng.random() < 0.5:
            return
        depth = x.shape.dimensions[1]
        groups, columns = self.rng.randint(1, 3), self.rng.randint(1, 4)
        matrices = self.constant(Shape.array(x.type, [groups, depth, columns]))
        sizes = self.constant(Shape.array(ElementType.S32, [groups]), [0, 1, 2, 5])
        made = self.c.add(
            "ragged-dot", x.instruction, matrices.instruction, sizes.instruction, lhs_contracting_dims=(1,),
            rhs_contracting_dims=(1,), lhs_ragged_dims=(0,), rhs_group_dims=(0,),
        )  # fmt: skip
        self.product(made, x, matrices, depth)

    def scaled_dot(self) -> None:
        narrow = (ElementType.F8E4M3FN, ElementType.F8E5M2, ElementType.F4E2M1FN, ElementType.BF16)
        x = self.pick(lambda v: v.is_usual and v.shape.rank == 2 and v.type in narrow)
        if x is None or 0 in x.shape.dimensions:
            return
        rows, depth = x.shape.dimensions
        y = self.partner(Value(self.filled(1, x.shape.with_dimensions([self.rng.randint(1, 5), depth])), 1))
        blocks = 2 if depth % 2 == 0 else 1
        scales = [self.constant(Shape.array(POWERS, [v.shape.dimensions[0], blocks])) for v in (x, y)]
        made = self.c.add(
            "scaled-dot", x.instruction, y.instruction, *(s.instruction for s in scales), lhs_contracting_dims=(1,),
            rhs_contracting_dims=(1,), shape=Shape.array(ElementType.F32, [rows, y.shape.dimensions[0]]),
        )  # fmt: skip
        wide = [
            Value(v.instruction, v.bound * s.bound, v.error * s.bound, None if v.grid is None else v.grid + 1)
            for v, s in zip((x, y), scales, strict=True)
        ]
        self.product(made, *wide, depth)

    # -- normalization -------------------------------------------------------------------------------------------------

    def batch_norm(self) -> None:
        """Adds batch norm inference, training or gradient. The variance is at least 1, so that slopes are small."""
        x = self.pick(lambda v: v.is_usual and v.type in (ElementType.F32, ElementType.F64) and v.shape.rank > 0
                      and v.bound < 1e4 and 0 not in v.shape.dimensions)  # fmt: skip
        if x is None:
            return
        rng, eps = self.rng, epsilon(x.type)
        feature = rng.randrange(x.shape.rank)
        vector = x.shape.with_dimensions([x.shape.dimensions[feature]])
        attributes = {"epsilon": rng.choice([1.0, 2.0]), "feature_index": feature}
        count = x.shape.num_elements // max(1, vector.num_elements)
        scale, offset = self.constant(vector), self.constant(vector)
        b, e = x.bound, x.error
        kind = rng.choice(["training", "inference", "grad"])
        centered = 2 * b  # |x - mean|, and its error
        centered_error = 2 * e + (count + 3) * eps * b
        if kind == "training":
            made = self.c.add("batch-norm-training", *(v.instruction for v in (x, scale, offset)), **attributes)
            mean, variance = (self.c.add("get-tuple-element", made, index=i) for i in (1, 2))
            self.keep(mean, b, e + (count + 1) * eps * b, None)
            spread = 2 * centered * centered_error + (count + 2) * eps * 2 * b * b
            self.keep(variance, 2 * b * b, spread, None)
            # d/dv of 1 / sqrt(v + epsilon) is at most 1/2 here.
            error = scale.bound * (centered_error + centered * (0.5 * spread + 4 * eps)) + 2 * eps * offset.bound
            self.keep(
                self.c.add("get-tuple-element", made, index=0), scale.bound * centered + offset.bound, error, None
            )
            return
        mean, variance = self.constant(vector), self.constant(vector, [0, 1, 2, 7])
        centered, deviation = b + mean.bound, eps
        centered_error = e + eps * centered
        if kind == "inference":
            made = self.c.add("batch-norm-inference", *(v.instruction for v in (x, scale, offset, mean, variance)), **attributes)  # fmt: skip
            error = scale.bound * (centered_error + centered * 6 * deviation) + 2 * eps * offset.bound
            self.keep(made, scale.bound * centered + offset.bound, error, None)
            return
        gradient = self.partner(x)
        made = self.c.add(
            "batch-norm-grad", *(v.instruction for v in (x, scale, mean, variance, gradient)), **attributes
        )
        g, ge = gradient.bound, gradient.error
        normal, normal_error = centered, centered_error + 6 * eps * centered
        sums = count * g * normal
        to_scale = count * (g * normal_error + normal * ge) + (count + 2) * eps * sums
        to_offset = count * ge + (count + 1) * eps * count * g
        self.keep(self.c.add("get-tuple-element", made, index=1), sums, to_scale, None)
        self.keep(self.c.add("get-tuple-element", made, index=2), count * g, to_offset, None)
        inner = g + g + normal * normal * g
        inner_error = ge + to_offset / count + normal * to_scale / count + normal_error * normal * g + 8 * eps * inner
        result = scale.bound * inner
        self.keep(
            self.c.add("get-tuple-element", made, index=0), result, scale.bound * inner_error + 8 * eps * result, None
        )

    # -- transforms and factorizations ---------------------------------------------------------------------------------

    def fft(self) -> None:
        x = self.pick(lambda v: v.is_usual and v.type in (ElementType.F32, ElementType.F64, ElementType.C64, ElementType.C128)
                      and v.shape.rank > 0 and 0 not in v.shape.dimensions)  # fmt: skip
        if x is None:
            return
        rank = self.rng.randint(1, min(3, x.shape.rank))
        tail = list(x.shape.dimensions[-rank:])
        if x.type.is_floating:
            kind = "RFFT"
        else:
            kind = self.rng.choice(["FFT", "IFFT", "IRFFT"])
            if kind == "IRFFT":
                tail[-1] = 2 * tail[-1] - self.rng.choice([1, 2])
                if tail[-1] == 0:
                    return
        made = self.c.add("fft", x.instruction, fft_type=kind, fft_length=tuple(tail))
        count = math.prod(tail)
        total = 2 * count * x.bound
        spread = 8 * epsilon(x.type) * (math.log2(count) + 1) * total
        share = 1 / count if kind in ("IFFT", "IRFFT") else 1
        self.keep(made, share * total, share * (2 * count * x.error + spread), None)

    def square(self) -> Value | None:
        return self.pick(lambda v: v.is_usual and v.shape.rank >= 2 and 0 < v.shape.dimensions[-1] <= 8 and v.bound < 1e3
                         and v.type in (ElementType.F32, ElementType.F64, ElementType.C64, ElementType.C128)
                         and 0 not in v.shape.dimensions)  # fmt: skip

    def matrices(self, x: Value) -> tuple[Value, HloInstruction]:
        """x as square matrices (of its last dimension's size), and ones on their diagonals."""
        n = x.shape.dimensions[-1]
        lead = x.shape.dimensions[:-2]
        rows = x.shape.dimensions[-2]
        made = x.instruction
        shape = Shape.array(x.type, [*lead, n, n])
        if rows != n:  # the first row, in every row
            cut = [SliceDimension(0, d) for d in lead] + [SliceDimension(0, 1), SliceDimension(0, n)]
            made = self.c.add("slice", made, slice=tuple(cut))
            made = self.c.add("reshape", made, shape=Shape.array(x.type, [*lead, n]))
            made = self.c.add("broadcast", made, shape=shape, dimensions=(*range(len(lead)), len(lead) + 1))
        places = shape.with_element_type(ElementType.S32)
        row, column = (self.c.add("iota", shape=places, iota_dimension=len(lead) + i) for i in range(2))
        on = self.c.add("compare", row, column, direction="EQ")
        one = self.c.add("select", on, self.filled(1, shape), self.filled(0, shape))
        return Value(made, x.bound, x.error, x.grid), one

    def cholesky(self) -> None:
        """Adds cholesky of x x^H + s, where s is as large as x x^H can be, so that the condition number is at most 2."""
        x = self.square()
        if x is None:
            return
        x, one = self.matrices(x)
        n, lead = x.shape.dimensions[-1], x.shape.rank - 2
        batch = tuple(range(lead))
        other = x.instruction
        if x.type.is_complex:
            imag = self.c.add("negate", self.c.add("imag", other))
            other = self.c.add("complex", self.c.add("real", other), imag)
        product = self.c.add("dot", x.instruction, other, lhs_batch_dims=batch, rhs_batch_dims=batch,
                             lhs_contracting_dims=(lead + 1,), rhs_contracting_dims=(lead + 1,))  # fmt: skip
        parts = 2 if x.type.is_complex else 1
        shift = 2.0 ** math.ceil(math.log2(parts * n * n * x.bound**2 + 1))
        a = self.c.add("add", product, self.c.add("multiply", one, self.filled(shift, one.shape)))
        size, eps = 2 * shift, epsilon(x.type)
        error = 2 * parts * n * x.bound * x.error + (parts * n + 3) * eps * size
        # The factor's condition is that of the matrix, 2, times its root; its own rounding is n units of its norm.
        top = math.sqrt(size)
        made = self.c.add("cholesky", a, lower=self.rng.random() < 0.5)
        self.keep(made, top, n * error / math.sqrt(shift) * 2 + 4 * (n + 1) * eps * top, None)

    def triangular_solve(self) -> None:
        """Adds a triangular solve with a diagonally dominant matrix."""
        x = self.square()
        if x is None:
            return
        x, one = self.matrices(x)
        n, rng = x.shape.dimensions[-1], self.rng
        parts = 1.5 if x.type.is_complex else 1
        down = math.ceil(math.log2(max(4 * parts * n * x.bound, 1)))
        factor = 2.0**-down
        small = self.c.add("multiply", x.instruction, self.filled(factor, x.shape))
        a = self.c.add("add", small, self.c.add("multiply", one, self.filled(2, one.shape)))
        unit_diagonal = rng.random() < 0.3
        left = rng.random() < 0.5
        columns = rng.randint(1, 4)
        sizes = [*x.shape.dimensions[:-2], *((n, columns) if left else (columns, n))]
        b = self.partner(Value(self.filled(1, x.shape.with_dimensions(sizes)), 1))
        made = self.c.add("triangular-solve", a, b.instruction, left_side=left, lower=rng.random() < 0.5, unit_diagonal=unit_diagonal,
                          transpose_a=rng.choice(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]))  # fmt: skip
        # |inverse| <= 1 / (1 - 1/4) in the norms of rows and of columns.
        bound, eps = 1.5 * parts * b.bound, epsilon(x.type)
        error = 1.5 * (b.error + n * parts * (factor * x.error + eps) * bound) + 4 * (n + 2) * eps * parts * bound
        self.keep(made, bound, error, None)
