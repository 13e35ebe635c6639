"""torch.compile: a row of the table for each of KINDS. B4 and B5 are here."""

import sys

import torch
from ending import end, say_loss
from tiny import Net, batch
from torch import nn
from torch.nn import functional as F

STEPS = 12
NAMES = ["stem.weight", "gradient/head.weight"]


def loop(model, called, names=NAMES, loss="nll_loss_output_0", step_of=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    stepping = torch.compile(optimizer.step) if step_of == "compiled" else optimizer.step
    for step in range(STEPS):
        x, y = batch(step)
        value = F.cross_entropy(called(x), y)
        optimizer.zero_grad()
        value.backward()
        stepping()
        say_loss(step, value)
    print("frames", sorted(torch._dynamo.utils.counters["graph_break"].items()))
    end(STEPS, model, names=names, loss=loss)


def wrapped(backend):
    model = Net()
    loop(model, torch.compile(model, backend=backend), [*NAMES, "Net_output_0"])


def in_place():
    model = Net()
    model.compile()
    loop(model, model, [*NAMES, "Net_output_0"])


def of_torch():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    loop(model, torch.compile(model), ["0.weight", "Sequential_output_0", "Sequential_input_0"])


def whole_step():
    """Forward, backward and the optimizer's step in one compiled function."""
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    @torch.compile
    def train(x, y):
        optimizer.zero_grad()
        value = F.cross_entropy(model(x), y)
        value.backward()
        optimizer.step()
        return value

    for step in range(STEPS):
        say_loss(step, train(*batch(step)))
    end(STEPS, model, names=["stem.weight"])


def forward_and_loss():
    model = Net()
    loss_of = torch.compile(lambda x, y: F.cross_entropy(model(x), y))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        value = loss_of(*batch(step))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        say_loss(step, value)
    end(STEPS, model, names=NAMES)


def compiled_step():
    model = Net()
    loop(model, model, [*NAMES, "Net_output_0"], step_of="compiled")


if __name__ == "__main__":
    torch.manual_seed(21)
    kinds = {
        "inductor": lambda: wrapped("inductor"), "eager": lambda: wrapped("eager"),
        "aot_eager": lambda: wrapped("aot_eager"), "in_place": in_place, "of_torch": of_torch,
        "whole_step": whole_step, "forward_and_loss": forward_and_loss, "compiled_step": compiled_step,
    }  # fmt: skip
    kinds[sys.argv[1]]()
