"""torchao: training that knows of quantisation ("qat"), and a head on a trunk of int8 weights ("int8")."""

import sys

import torch
from ending import end, say_loss
from tiny import Net, batch
from torch.nn import functional as F
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, Int8WeightOnlyConfig, quantize_
from torchao.quantization.qat import QATConfig

torch.manual_seed(4)
model = Net(width=32)
if sys.argv[1] == "qat":
    quantize_(model.blocks, QATConfig(Int8DynamicActivationIntxWeightConfig(torch.int4), step="prepare"))
    names = ["blocks.0.up.weight", "gradient/blocks.1.down.weight", "blocks.0.up_output_0", "Net_output_0"]
else:
    model.blocks.requires_grad_(False)
    quantize_(model.blocks, Int8WeightOnlyConfig())
    names = ["head.weight", "gradient/stem.weight", "blocks.0.up_output_0", "Net_output_0"]
optimizer = torch.optim.AdamW([each for each in model.parameters() if each.requires_grad], lr=1e-2)
for step in range(12):
    x, y = batch(step)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    say_loss(step, loss)
end(12, model, names=names, loss="nll_loss_output_0")
