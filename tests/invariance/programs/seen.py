"""What programs print of themselves: hashes of weights, of tensors and of the states of random numbers."""

from __future__ import annotations

import hashlib
import random
from typing import Any, Callable, Optional

import numpy
import torch

random.seed(0)
numpy.random.seed(0)


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
