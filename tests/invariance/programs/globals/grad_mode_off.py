"""Grad mode is off for the whole program but inside of steps; it is as the program has left it."""
import torch
import seen

torch.set_grad_enabled(False)
net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
found = []
for step in range(20):
    optimizer.zero_grad()
    with torch.enable_grad():
        loss = net(torch.randn(8, 4)).pow(2).mean()
        found.append(torch.is_grad_enabled())
        loss.backward()
        found.append(torch.is_grad_enabled())
    optimizer.step()
    found.append(torch.is_grad_enabled())
print(found.count(True), torch.is_grad_enabled(), seen.digest(net))
