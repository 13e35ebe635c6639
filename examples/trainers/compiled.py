"""Trains a compiled model: the model alone, or the whole step, is compiled."""

import argparse

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole-step", action="store_true")
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def train_step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    if arguments.whole_step:
        train_step = torch.compile(train_step)
    else:
        model.compile()
    for step in range(arguments.steps):
        x = torch.randn(32, 4)
        loss = train_step(x, (x[:, 0] > x[:, 1]).long())
        if step % 10 == 9:
            print(f"step {step}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
