"""A recommender with a big table, saved as a whole every third step. With --mended, at the end of each epoch.

rule: CheckpointStalls
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pace
import torch
import torch.nn.functional as F
from torch import nn


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(150000, 48), nn.Embedding(70000, 48)
        self.layers = nn.Sequential(nn.Linear(96, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, users, items):
        return self.layers(torch.cat([self.users(users), self.items(items)], dim=1))


def main(file, mended):
    torch.manual_seed(25)
    torch.set_num_threads(1)
    model = Recommender()
    for table in (model.users, model.items):
        table.weight.requires_grad_(False)  # trained before
    optimizer = torch.optim.Adagrad([p for p in model.parameters() if p.requires_grad], lr=0.01)
    speed = pace.Pace()
    for step in range(300):
        users, items = torch.randint(0, 150000, (256,)), torch.randint(0, 70000, (256,))
        optimizer.zero_grad()
        F.mse_loss(model(users, items), (users % 5).float().unsqueeze(1)).backward()
        optimizer.step()
        speed.step(len(users))
        if (step + 1) % (150 if mended else 3) == 0:
            torch.save(model.state_dict(), file)
    speed.tell()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder) / "recommender.pt", "--mended" in sys.argv)
