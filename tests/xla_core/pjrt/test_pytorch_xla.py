"""PyTorch/XLA on a backend's shared library, where PyTorch/XLA is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from xla_core.pjrt import shared_library

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch_xla") is None, reason="torch_xla is not installed"),
    pytest.mark.skipif(not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="this Python has no shared library"),
]

PROGRAM = """
import os, sys

os.environ["PJRT_DEVICE"] = "XLA_CORE"
from torch_xla.experimental import plugins


class XlaCore(plugins.DevicePlugin):
    def library_path(self):
        return sys.argv[1]


plugins.register_plugin("XLA_CORE", XlaCore())

import copy
import torch
import torch.nn as nn
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)


def same(name, ours, theirs):
    for got, want in zip(ours, theirs, strict=True):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-3, atol=1e-4, msg=lambda text: name + ": " + text)


x = torch.randn(4, 6)
square = torch.randn(5, 5)
positive = square @ square.T + torch.eye(5)
calls = {
    "sort": (lambda v: torch.sort(v, 1), x),
    "topk": (lambda v: torch.topk(v, 3), x),
    "nonzero": (lambda v: [torch.nonzero(v > 0)], x),
    "masked": (lambda v: [v[v > 0]], x),
    "cumsum": (lambda v: [v.cumsum(1)], x),
    "fft": (lambda v: [torch.fft.irfft(torch.fft.rfft(v) * 2, 6)], x),
    "inverse": (lambda v: [torch.linalg.inv(v)], positive),
    "eigenvalues": (lambda v: [torch.linalg.eigh(v)[0]], positive),
    "singular values": (lambda v: [torch.linalg.svdvals(v)], x),
    "product of bf16": (lambda v: [(v.bfloat16() @ v.bfloat16().T).float()], x),
}
for name, (call, argument) in calls.items():
    same(name, call(argument.to(device)), call(argument))

models = {
    "convolutions": (
        nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.GELU(), nn.Conv2d(8, 8, 3, groups=8)),
        torch.randn(2, 3, 16, 16),
    ),
    "lstm": (nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True), torch.randn(2, 5, 8)),
    "transformer": (nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), torch.randn(2, 5, 8)),
}


def losses(model, argument):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    found = []
    for _ in range(3):
        result = model(argument)
        loss = ((result[0] if isinstance(result, tuple) else result) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        found.append(loss.detach())
    return found


for name, (model, argument) in models.items():
    ours = copy.deepcopy(model).to(device)
    same(name, losses(ours, argument.to(device)), losses(model, argument))
print("done")
"""


def test_pytorch_computes_and_trains_on_a_backend(tmp_path: Path) -> None:
    library = tmp_path / "libpjrt_cpu.so"
    shared_library.build_library("cpu", library)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XLA_", "JAX_"))}
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(library)],
        capture_output=True, text=True, env=environment, timeout=600,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-4000:]
    assert process.stdout.splitlines()[-1] == "done"
