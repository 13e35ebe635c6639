"""A model that gets layers while it is trained, loses one, and has one replaced."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4))
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for step in range(40):
    if step % 8 == 5:
        layer = torch.nn.Linear(4, 4)
        net.append(layer) if step < 30 else net.__setitem__(1, layer)
        optimizer.add_param_group({"params": list(layer.parameters()), "lr": 0.02})
    if step == 33:
        del net[2]
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(len(net), len(optimizer.param_groups), seen.digest(net))
