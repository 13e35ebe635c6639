"""Parameter groups are added, their rates changed at each step, one is emptied, and all are replaced."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)])
optimizer = torch.optim.SGD(net[2].parameters(), 0.1, momentum=0.9)
for step in range(40):
    if step == 10:
        optimizer.add_param_group({"params": net[0].parameters(), "lr": 0.01, "name": "body", "note": [1, 2]})
    if step == 20:
        optimizer.param_groups[1]["params"] = list(net[1].parameters())
    if step == 30:
        optimizer.param_groups[1]["params"] = []
    for group in optimizer.param_groups:
        group["lr"] *= 0.97
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    for layer in net:
        x = layer(x)
    x.pow(2).mean().backward()
    optimizer.step()
print([(group["lr"], len(group["params"])) for group in optimizer.param_groups], len(optimizer.state), seen.digest(net))
