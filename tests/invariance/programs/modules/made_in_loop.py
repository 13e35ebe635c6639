"""New modules in each step: made, called and dropped; ids of objects come back."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(60):
    optimizer.zero_grad()
    adapter = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1))
    criterion = torch.nn.SmoothL1Loss()
    criterion(adapter(net(torch.randn(8, 4))), torch.ones(8, 4)).backward()
    optimizer.step()
print(seen.digest(net), seen.random_states())
