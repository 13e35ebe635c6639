"""bitsandbytes: a trainable head on frozen layers of four bits (as QLoRA has it) and of eight."""

import bitsandbytes as bnb
import torch
from ending import end, say_loss
from tiny import batch
from torch import nn
from torch.nn import functional as F


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 64)
        self.four = bnb.nn.Linear4bit(64, 64, compute_dtype=torch.float32, quant_type="nf4")
        self.eight = bnb.nn.Linear8bitLt(64, 64, has_fp16_weights=False)
        self.head = nn.Linear(64, 4)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        return self.head(x + self.four(x) + self.eight(x).to(x.dtype))


torch.manual_seed(5)
model = Quantised()
model.four.requires_grad_(False)
model.eight.requires_grad_(False)
model.to("cpu")  # which quantises
optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-2)
for step in range(12):
    x, y = batch(step)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    say_loss(step, loss)
end(12, model, names=["head.weight", "gradient/stem.weight", "four_output_0"], loss="nll_loss_output_0")
