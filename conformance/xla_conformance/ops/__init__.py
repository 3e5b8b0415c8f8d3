"""Test cases of single ops, made from the op table and from `domains`, the variations of each op's cases.

| which cases there are | |
|---|---|
| `domains` | the variations of each op's cases; a new op that isn't elementwise needs one |
| `domain` | what a domain is, and which of its choices become cases |
| `choices`, `covering`, `combinations`, `selection` | covering arrays of the values of axes |
| `features`, `wanted`, `completion`, `coverage`, `reasons` | what cases must show, what is missing, and why it may be |
| `cases`, `names`, `shared` | the cases themselves; the words of their names; choices that processes share |
| `elementwise`, `elementwise_forms` | cases in which special values of operands meet |
| `draws`, `drawn` | cases that are drawn by chance |
| `rounded` | cases whose sums are rounded |

| what a case is made of | |
|---|---|
| `program` | the module, with the fills of its parameters |
| `element_types`, `sizes`, `reducers` | types, dimensions, and computations that reductions apply |
| `fills`, `kinds`, `values`, `values_points`, `arranged` | the values of arguments |

| how it runs | |
|---|---|
| `contexts` | what is around the op, and its layouts and level |
| `executions`, `case_runs`, `drawn_runs`, `joint` | executions of one case, and of several in one program |
| `comparison`, `comparison_complex` | the expected results, and how near results must be |

| programs of a few ops | |
|---|---|
| `compositions`, `links` | an op after another one |
| `near_misses`, `variations` | patterns, and what looks like them |
| `twins`, `twin_changes` | instructions that differ in one thing |
"""

from xla_conformance.ops.cases import OpCase, generate

__all__ = ["OpCase", "generate"]
