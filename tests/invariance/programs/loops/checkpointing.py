"""Activation checkpointing: forward passes run twice, with dropout that draws the same numbers."""
import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
import seen

torch.manual_seed(0)
blocks = torch.nn.Sequential(*[
    torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Dropout(0.2), torch.nn.GELU()) for _ in range(6)
])
head = torch.nn.Linear(16, 1)
optimizer = torch.optim.Adam([*blocks.parameters(), *head.parameters()], 1e-3)
for step in range(20):
    optimizer.zero_grad()
    x = torch.randn(8, 16, requires_grad=True)
    x = checkpoint_sequential(blocks, 3, x) if step % 2 else checkpoint(blocks, x)
    head(x).pow(2).mean().backward()
    optimizer.step()
print(seen.digest(blocks, head), seen.random_states())
