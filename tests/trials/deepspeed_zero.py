"""DeepSpeed's ZeRO on the CPU, in one process: stage 0 or 1."""

import os
import sys

os.environ.update(DS_ACCELERATOR="cpu", RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29571")

import deepspeed
import torch
from ending import end, say_loss
from tiny import Net, batch
from torch.nn import functional as F

STEPS = 10
torch.manual_seed(12)
deepspeed.ops.__compatible_ops__.pop("deepspeed_shm_comm", None)  # which it would compile for minutes
deepspeed.init_distributed("gloo")
net = Net()
config = {"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": int(sys.argv[1])}}
engine, optimizer, _, _ = deepspeed.initialize(
    model=net, optimizer=torch.optim.AdamW(net.parameters(), lr=1e-2), config=config
)
for step in range(STEPS):
    x, y = batch(step)
    loss = F.cross_entropy(engine(x), y)
    engine.backward(loss)
    engine.step()
    say_loss(step, loss)
names = ["Net_output_0", "blocks.0.up_output_0", "stem.weight", "gradient/stem.weight"]
end(STEPS, net, names=names, loss="nll_loss_output_0")
torch.distributed.destroy_process_group()
