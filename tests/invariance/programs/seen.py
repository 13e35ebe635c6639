"""What programs print of themselves: hashes of weights, of tensors and of the states of random numbers."""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any, Callable, Optional

import numpy
import torch

random.seed(0)
numpy.random.seed(0)

# A training for interpreters of their own.
TRAINS = """import os, sys, torch, seen
net = seen.small_net()
seen.train(net, 15)
print(seen.digest(net))
"""


def digest(*models: torch.nn.Module) -> str:
    """A hash of all weights and buffers."""
    return digest_of(*(value for model in models for value in model.state_dict().values()))


def digest_of(*tensors: Any) -> str:
    """A hash of the bytes of tensors."""
    total = hashlib.sha256()
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            plain = torch.Tensor.detach(tensor).to_dense() if tensor.is_sparse else torch.Tensor.detach(tensor)
            total.update(str(plain.dtype).encode() + plain.resolve_conj().contiguous().numpy().tobytes())
        else:
            total.update(repr(tensor).encode())
    return total.hexdigest()[:16]


def random_states() -> str:
    """A hash of the states of all generators of random numbers that programs share."""
    of_numpy = numpy.random.get_state()
    states = [digest_of(torch.get_rng_state()), repr(random.getstate()), repr(of_numpy[1].tolist()), repr(of_numpy[2:])]
    return hashlib.sha256("".join(states).encode()).hexdigest()[:16]


def small_net(width: int = 8, outputs: int = 1) -> torch.nn.Module:
    """A net of two layers, with the same weights each time."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.Tanh(), torch.nn.Linear(width, outputs))


def train(
    net: torch.nn.Module,
    steps: int = 20,
    optimizer: Optional[torch.optim.Optimizer] = None,
    each: Optional[Callable[[int], None]] = None,
) -> torch.optim.Optimizer:
    """The plainest loop, for programs that are about something else than their loop."""
    optimizer = optimizer or torch.optim.SGD(net.parameters(), 0.05)
    for step in range(steps):
        optimizer.zero_grad()
        inputs = torch.randn(8, 4)
        loss = torch.nn.functional.mse_loss(net(inputs), inputs.sum(1, keepdim=True))
        loss.backward()
        optimizer.step()
        if each is not None:
            each(step)
    return optimizer


def run_python(
    *arguments: str,
    text: str = "",
    files: Optional[Mapping[str, str]] = None,
    environment: Optional[Mapping[str, str]] = None,
    without: Optional[re.Pattern[str]] = None,
) -> None:
    """Runs another interpreter with these arguments and prints what came of it, but for lines that match `without`.

    `text` is its standard input, `files` are written before, `environment` stands in place of this one's.
    """
    for name, content in (files or {}).items():
        with open(name, "w") as file:
            file.write(content)
    variables = None
    if environment is not None:
        variables = {name: value for name, value in os.environ.items() if name.startswith("TRAINWARDEN_")}
        variables.update(environment)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=variables)
    print(done.returncode, done.stdout)
    for line in done.stderr.splitlines():
        if not line.startswith("trainwarden:") and not (without and without.search(line)):
            print(line)
