"""A convolutional net with batch norm on images, evaluated between epochs; accuracy decides what is saved."""
import torch
from torch.utils.data import DataLoader, TensorDataset
import seen

torch.manual_seed(0)
torch.set_num_threads(1)
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Dropout(0.2), torch.nn.LazyLinear(5),
)  # fmt: skip
net(torch.zeros(2, 1, 10, 10))
data = TensorDataset(torch.randn(64, 1, 10, 10), torch.randint(5, (64,)))
optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=32)
best = -1.0
for epoch in range(4):
    net.train()
    for x, y in DataLoader(data, 8, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        scheduler.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in DataLoader(data, 16))
    if right > best:
        best = right
        torch.save(net.state_dict(), "best.pt")
print(best, seen.digest(net), seen.random_states())
