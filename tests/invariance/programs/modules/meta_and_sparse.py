"""Modules on the device meta, sparse inputs, and a parameter that is uninitialised."""
import torch
import seen

torch.manual_seed(0)
meta = torch.nn.Linear(4, 4, device="meta")
print(meta(torch.ones(2, 4, device="meta")).shape)
net = torch.nn.ParameterDict({"w": torch.nn.Parameter(torch.randn(4, 2))})
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(15):
    optimizer.zero_grad()
    x = torch.sparse_coo_tensor(torch.randint(4, (2, 6)), torch.randn(6), (4, 4))
    torch.sparse.mm(x, net["w"]).pow(2).mean().backward()
    optimizer.step()
    with torch.no_grad():
        meta(torch.ones(2, 4, device="meta"))
print(seen.digest(net))
