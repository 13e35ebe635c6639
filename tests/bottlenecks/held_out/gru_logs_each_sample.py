"""A GRU that forecasts, and writes down the error of each sample by itself. With --mended, the mean of each tenth step.

rule: HiddenSynchronisation
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pace
import torch
from torch import nn


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 16, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, series):
        return self.head(self.gru(series)[0][:, -1])


def main(mended):
    torch.manual_seed(24)
    torch.set_num_threads(1)
    series = torch.randn(4096, 7, 4).cumsum(dim=1)
    model = Forecast()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    written = []
    speed = pace.Pace()
    for step in range(700):
        chosen = series[torch.randint(0, len(series), (512,))]
        optimizer.zero_grad()
        errors = (model(chosen[:, :-1]) - chosen[:, -1, :1]) ** 2
        errors.mean().backward()
        optimizer.step()
        if not mended:
            for sample, error in enumerate(errors):
                written.append(f"{step} {sample} {error.item():.4f} {error.sqrt().item():.4f}")
        elif step % 10 == 0:
            written.append(f"{step} {errors.mean().item():.4f}")
        speed.step(len(chosen))
    speed.tell()


if __name__ == "__main__":
    main("--mended" in sys.argv)
