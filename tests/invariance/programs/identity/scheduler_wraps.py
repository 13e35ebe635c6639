"""Schedulers of learning rates wrap optimizer.step() themselves; their counters are as without anybody else."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
schedulers = [
    torch.optim.lr_scheduler.StepLR(optimizer, 3),
    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20),
]
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    for scheduler in schedulers:
        scheduler.step()
print(getattr(optimizer, "_step_count", None), [each.last_epoch for each in schedulers])
print([sorted(vars(each)) for each in schedulers])
print(optimizer.step.__name__, getattr(optimizer.step, "_with_counter", None), optimizer.param_groups[0]["lr"])
print(seen.digest(net))
