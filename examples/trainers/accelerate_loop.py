"""Trains a classifier in a loop of its own with accelerate."""

import argparse
import json
import os

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset


def samples(count):
    x = torch.randn(count, 4)
    return TensorDataset(x, (x[:, 0] > x[:, 1]).long())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--out", default="out")
    arguments = parser.parse_args()
    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=arguments.accumulate)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=50)
    data = DataLoader(samples(400), 8, shuffle=True)
    model, optimizer, data, schedule = accelerator.prepare(model, optimizer, data, schedule)
    history, losses = [], []
    for epoch in range(arguments.epochs):
        for x, y in data:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                losses.append(loss.item())
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
                    rate = optimizer.param_groups[0]["lr"]
                    history.append({"loss": sum(losses) / len(losses), "grad_norm": norm.item(), "learning_rate": rate})
                    losses = []
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
    accelerator.save_model(model, arguments.out)
    with open(os.path.join(arguments.out, "log.json"), "w") as file:
        json.dump(history, file)


if __name__ == "__main__":
    main()
