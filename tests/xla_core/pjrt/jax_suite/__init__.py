"""JAX's own tests on a backend, beside JAX's CPU.

The tests are the files of the folder `tests` in JAX's repository, at the tag of the installed version. They are found
by the environment variable JAX_TESTS, and are not a part of this repository.

    python -m tests.xla_core.pjrt.jax_suite --platform xla_cpu nn fft

    worker      runs one file's tests in a process of its own, and records each outcome
    running     starts workers, again after a crash, and gathers outcomes
    selection   the files, and the number of generated cases and the share of the tests that are run
    comparison  compares a platform's outcomes with those of JAX's CPU, and gives failures their causes
"""
