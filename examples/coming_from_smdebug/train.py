"""A training as smdebug's users write it: on which side of a circle does a point lie? Not a word of it is ours."""

import argparse

import torch

import smdebug.pytorch as smd
from smdebug import SaveConfig, modes


def batches(count, seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        points = torch.rand(64, 2, generator=generator) * 2 - 1
        yield points, (points.norm(dim=1) < 0.8).long()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(2, 32)
        self.act = torch.nn.Sigmoid()
        self.out = torch.nn.Linear(32, 2)

    def forward(self, points):
        return self.out(self.act(self.hidden(points)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--out-dir", default="runs/circle")
    options = parser.parse_args()

    torch.manual_seed(0)
    net, criterion = Net(), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=options.lr, momentum=0.9)

    hook = smd.Hook(
        out_dir=options.out_dir,
        save_config=SaveConfig(save_interval=10),
        include_collections=["weights", "gradients", "losses"],
    )
    hook.register_hook(net)
    hook.register_loss(criterion)

    hook.set_mode(modes.TRAIN)
    for points, inside in batches(options.steps, seed=1):
        optimizer.zero_grad()
        loss = criterion(net(points), inside)
        loss.backward()
        optimizer.step()
    hook.set_mode(modes.EVAL)
    with torch.no_grad():
        for points, inside in batches(20, seed=2):
            hook.save_scalar("accuracy", (net(points).argmax(dim=1) == inside).float().mean())
    hook.close()


if __name__ == "__main__":
    main()
