"""wandb#5873: gradients that are all the same, all zero, infinite or NaN break histograms of others."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    scale = (0.0, 1.0, float("inf"), float("nan"))[step % 4]
    output = net(torch.zeros(8, 4))
    output.backward(torch.full_like(output, scale))
    if step % 4 > 1:
        continue
    optimizer.step()
print(seen.digest(net), [each.grad.isnan().any().item() for each in net.parameters()])
