"""A zoo of broken backends, which show what the conformance suite finds.

Each mutant is a backend with one fault (`mutants/`). `python -m tests.conformance.zoo` runs the suite's tests on each, and
says whether the quick profile, only the full one, or no test finds the fault.
"""
