"""Which op runs in which element type: `xla conform --support-matrix`.

The example of each op (`xla_core.stablehlo.op_example`) runs in every element type on one subject, a backend or the
reference evaluator. A cell has the result of the run; there is no cell for a program that the verifier refuses.
"""
