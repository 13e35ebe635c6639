"""Autocast to bfloat16 on the processor, nested and switched off inside; its cache is the program's."""
import torch
import seen

net = seen.small_net(width=16)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
kinds = set()
for step in range(20):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = net(torch.randn(8, 4))
        with torch.autocast("cpu", enabled=False):
            loss = torch.nn.functional.mse_loss(output.float(), torch.ones(8, 1))
    kinds.add((output.dtype, loss.dtype, torch.is_autocast_cpu_enabled()))
    loss.backward()
    optimizer.step()
print(kinds, seen.digest(net))
