"""Trains, and forks a child that trains a model of its own while the parent lives on."""

import multiprocessing

import torch
from torch import nn

from outcome import report


def train(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(torch.ones(5, 4)), torch.zeros(5, 2))
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.17g}", flush=True)


def main():
    torch.manual_seed(20)
    model = nn.Linear(4, 2)
    train(model, 2)
    child = multiprocessing.get_context("fork").Process(target=train, args=(nn.Linear(4, 2), 3))
    child.start()
    child.join()
    train(model, 2)
    report(model)


if __name__ == "__main__":
    main()
