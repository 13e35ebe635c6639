"""torch.compile of layers: in place, as wrappers, and of layers of torch's own, of which one fails once."""

import sys

import torch
from ending import end, say_loss
from tiny import Net, batch
from torch.nn import functional as F

STEPS = 10
torch.manual_seed(10)
model = Net()
for index, block in enumerate(model.blocks):
    if sys.argv[1] == "in_place":
        block.compile()
    else:
        model.blocks[index] = torch.compile(block)
model.head = torch.compile(model.head)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(STEPS):
    x, y = batch(step)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    say_loss(step, loss)
    if step == 5:
        try:
            model.head(torch.zeros(2, 3))
        except Exception as error:
            print("failed", type(error).__name__)
names = ["blocks.0.up.weight", "gradient/head.weight", "blocks.1_output_0", "blocks.0_input_0", "head_output_0"]
end(STEPS, model, names=names, loss="nll_loss_output_0")
