"""A variational autoencoder: the loss is a sum of two."""
import toy
import torch
import torch.nn.functional as F
from torch import nn


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(144, 48), nn.Tanh())
        self.mean, self.log_variance = nn.Linear(48, 4), nn.Linear(48, 4)
        self.decode = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 144))

    def forward(self, x):
        hidden = self.encode(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        sample = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decode(sample), mean, log_variance


toy.begin()
pictures, labels = toy.images()
loader = toy.batches(torch.sigmoid(2 * pictures - 1), labels)
model = Vae()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(25):
    for x, _ in loader:
        x = x.flatten(1)
        out, mean, log_variance = model(x)
        match = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / len(x)
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        optimizer.zero_grad()
        (match + divergence).backward()
        optimizer.step()
