"""Programs that call functions of Python."""

from __future__ import annotations

import uuid

import numpy as np
import xla_backend_cpu


def register(function, target=None):
    """Registers a function under a unique name and returns the name."""
    target = target or f"test.{uuid.uuid4().hex}"
    xla_backend_cpu.register_custom_call(target, function)
    return target


def program(target, config="{}", extra=""):
    return f"""HloModule custom
ENTRY main {{
  x = f32[3,4] parameter(0)
  y = f32[3,4] custom-call(x), custom_call_target="{target}", backend_config={config}{extra}
  ROOT z = f32[3,4] add(y, x)
}}"""


X = np.arange(12, dtype=np.float32).reshape(3, 4)
