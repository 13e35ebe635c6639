"""REINFORCE on a bandit with contexts: a loss that is noisy, of both signs, and says nothing by itself."""
import toy
import torch
from torch import nn

toy.begin()
best = torch.randn(6, 3)
model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
baseline = 0.0
for step in range(250):
    state = torch.randn(32, 6)
    chosen = torch.distributions.Categorical(logits=model(state))
    action = chosen.sample()
    reward = (state @ best).gather(1, action[:, None]).squeeze(1)
    optimizer.zero_grad()
    loss = -(chosen.log_prob(action) * (reward - baseline)).mean() - 0.01 * chosen.entropy().mean()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
