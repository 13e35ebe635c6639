"""DataParallel, a model that is used through its parts only, and an nn.Module that is called by another name."""

import torch
from torch import nn

from outcome import report, sees


class Pair(nn.Module):
    """Never called itself."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 3)
        self.decoder = nn.Linear(3, 4)


def main():
    torch.manual_seed(19)
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    parallel, pair = nn.DataParallel(net), Pair()
    optimizer = torch.optim.Adam([*parallel.parameters(), *pair.parameters()])
    for step in range(3):
        optimizer.zero_grad()
        code = pair.encoder(parallel(torch.randn(5, 4)))
        loss = pair.decoder(code).pow(2).mean()
        loss.backward()
        sees("gradient/net.0.weight", net[0].weight.grad)
        sees("gradient/pair.decoder.weight", pair.decoder.weight.grad)
        optimizer.step()
        sees("pair.encoder_output_0", code)
        print(f"step {step} loss {loss.item():.17g}")
    report(net, pair)


if __name__ == "__main__":
    main()
