"""Runs programs with XLA's CPU compiler, through JAX, as an independent oracle.

The programs leave out these cases, in which jaxlib 0.10.2 differs:

- a scatter of several operands that are one array gives all of them the last result;
- a scatter without indices (an index vector of no elements) does its last update alone;
- convolutions of windows with negative padding read other elements;
- integer convolutions saturate where they are folded, and wrap where they run (the specification leaves an integer
  overflow to the implementation);
- a division of two constant integers by zero ends the process (when run, it gives -1, or the dividend as remainder);
- a conversion of a complex constant to real numbers ends the process (the specification drops the imaginary part, as
  XLA does when it runs);
- bitcasts between complex64 and complex128 end the process, or are refused, though the specification has them
  (bitcast_convert, its constraint C2: both are complex);
- powers of integers read six bits of the exponent; 0 to the power -1 is 1;
- leading zeros of constant negative numbers of 8 and 16 bits are counted as if of 64;
- reductions may leave out an initial value, since it must be the neutral one;
- select-and-scatter takes another one of equal elements (nothing says which);
- the lesser or greater of two complex numbers of one real part is the first of them, whatever the imaginary parts are
  (the specification orders pairs of both), and a NaN in one is dropped, or not (it says nothing of NaNs there);
- denormals are flushed, and NaNs change their bits;
- random bits are unsigned whatever type is asked for;
- arithmetic of 4-bit integers leaves the range; some programs of 2-bit ones, and normal random numbers of 64 bits, end
  the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib import xla_client

from xla_core.errors import UnimplementedError
from xla_core.hlo import ElementType, HloModule
from xla_core.stablehlo import from_hlo
from xla_core.stablehlo.translate.text import write_text

_LACKS = (ElementType.F8E8M0FNU, ElementType.F8E3M4, ElementType.F8E4M3)
TYPES = tuple(t for t in ElementType if t.is_array and t not in _LACKS and (t.bit_width >= 8 or t is ElementType.PRED))
"""Those that XLA's CPU compiler computes with."""

WITHOUT = frozenset(
    {
        "scaled_dot",
        "ragged_dot",
        "cumulative",
        "select_and_scatter",
        "stochastic_convert",
        "topk",
        "random",
        "powers",
        "narrow_precision",
    }
)
"""Steps whose ops reach XLA as other ops, since StableHLO writes them as what they mean, or that XLA takes in its own way.
"""

LACKS = (
    "floating for cbrt operation; got C",  # cube roots of complex numbers
    "Algorithm not supported by the ElementalIrEmitter",  # a dot of another precision than its operands have
    "Seen floating point types of different precisions",
)
"""XLA's messages for programs that it can't compile. Anything else that it says of a program is a finding."""


class XlaCpu:
    """The methods of a client that `check` uses."""

    platform_name = "xla"

    def __init__(self) -> None:
        jax.config.update("jax_enable_x64", True)
        self.device = jax.devices("cpu")[0]

    def buffer_from_host(self, array: np.ndarray) -> np.ndarray:
        return array

    def compile(self, module: HloModule, options: object = None) -> Callable[..., list[Any]]:
        """Compiles. Raises UnimplementedError for programs that StableHLO can't express, or that XLA can't compile."""
        text = write_text(from_hlo(module))
        wanted = xla_client.CompileOptions()
        wanted.env_option_overrides = [("xla_allow_excess_precision", False)]
        try:
            made = self.device.client.compile_and_load(text, xla_client.DeviceList((self.device,)), wanted)
        except xla_client.XlaRuntimeError as error:
            if any(words in str(error) for words in LACKS):
                raise UnimplementedError(f"XLA: {error}") from error
            raise

        def run(*arguments: np.ndarray) -> list[Any]:
            given = [jax.device_put(jnp.asarray(a), self.device) for a in arguments]
            results = made.execute_sharded(given).disassemble_into_single_device_arrays()
            return [np.asarray(shards[0]) for shards in results]

        return run
