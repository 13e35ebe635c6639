"""Microseconds that handing one PyTorch tensor to the hook takes, many times over, as a JSON list."""

from __future__ import annotations

import json
import time

import torch
import trainwarden

CALLS = 2000
ROUNDS = 31


def main() -> None:
    torch.set_num_threads(1)
    hook = trainwarden.Hook("unused", include=[".*"], save=1, dry_run=True)
    tensor = hook.declare("tensor")
    value = torch.rand(1024)
    samples = []
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            hook.save_tensor(tensor, value)
        samples.append((time.perf_counter_ns() - begin) / CALLS / 1e3)
        hook.step()
        hook.flush()
    print(json.dumps(samples))
