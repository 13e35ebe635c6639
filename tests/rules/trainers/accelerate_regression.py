"""A perceptron that fits a function, in a loop with accelerate, SGD and a cosine schedule.

Faults: ten hidden layers with sigmoids in place of three with ReLUs; a learning rate of 2 where 0.02 was meant; each
step takes the first batch of a new iterator, which is always the same one.

fault vanishing-gradient: GradientByDepth, VanishingGradient
fault huge-learning-rate: Divergence, LossDrift, LossSpike, GradientSpike, NonFiniteOrigin, ExplodingTensor
fault repeated-batches: DuplicateBatch
"""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

INPUTS = 16
WIDTH = 128
STEPS = 2400


def network(fault):
    depth, activation = (10, nn.Sigmoid) if fault == "vanishing-gradient" else (3, nn.ReLU)
    layers = []
    for layer in range(depth):
        layers += [nn.Linear(WIDTH if layer else INPUTS, WIDTH), activation()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, 1))


def samples(count):
    inputs = torch.randn(count, INPUTS)
    targets = inputs[:, :1] * inputs[:, 1:2] + torch.sin(2 * inputs[:, 2:3]) + 0.1 * torch.randn(count, 1)
    return TensorDataset(inputs, targets)


def batches(loader, fault):
    if fault == "repeated-batches":
        for _ in range(STEPS):
            yield next(iter(loader))
    else:
        for _ in range(STEPS // len(loader)):
            yield from loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["vanishing-gradient", "huge-learning-rate", "repeated-batches"])
    fault = parser.parse_args().fault
    set_seed(0)
    accelerator = Accelerator(cpu=True)
    model = network(fault)
    rate = 2.0 if fault == "huge-learning-rate" else 0.02
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    # The samples are in random order already.
    loader = DataLoader(samples(12800), 64, shuffle=False)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    total = 0.0
    for step, (inputs, targets) in enumerate(batches(loader, fault)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % 200 == 199:
            accelerator.print(f"step {step}: loss {total / 200:.4f}")
            total = 0.0
    accelerator.save_model(model, "out/accelerate_regression")


if __name__ == "__main__":
    main()
