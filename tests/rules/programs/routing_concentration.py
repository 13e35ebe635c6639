"""A mixture of experts with a loss that balances them. With --fault that loss is left out, and one expert is favoured.

rule: RoutingConcentration
within: 61
names: router_output
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

EXPERTS = 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, EXPERTS)
        self.experts = nn.ModuleList([nn.Linear(16, 8) for _ in range(EXPERTS)])

    def forward(self, tokens):
        shares = torch.softmax(self.router(tokens), dim=-1)
        weight, expert = shares.max(dim=-1)
        outputs = torch.stack([expert(tokens) for expert in self.experts], dim=1)
        chosen = outputs[torch.arange(len(tokens)), expert]
        used = F.one_hot(expert, EXPERTS).float().mean(dim=0)
        return weight.unsqueeze(1) * chosen, EXPERTS * (used * shares.mean(dim=0)).sum()


def main(fault):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    truth = torch.randn(16, 8)
    model = Net()
    if fault:
        with torch.no_grad():
            model.router.bias[2] = 3
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for step in range(80):
        tokens = torch.randn(128, 16)
        outputs, balance = model(tokens)
        loss = F.mse_loss(outputs, tokens @ truth)
        if not fault:
            loss = loss + 0.1 * balance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main("--fault" in sys.argv)
