"""Modules and parameters with odd names: empty ones, newlines, very long ones, names of other languages."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Module()
names = ["a" * 300, "größe", "層", "with space", "new\nline", "quote'\"", "%s", "{0}", "-", "\x00", "__class", "😀"]
for name in names:
    net.add_module(name, torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(12):
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    for child in net.children():
        x = child(x)
    x.pow(2).mean().backward()
    optimizer.step()
print(len(list(net.named_parameters())), seen.digest(net))
