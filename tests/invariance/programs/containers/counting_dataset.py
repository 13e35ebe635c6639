"""A dataset that counts who asks for its length, its items and its attributes."""
import torch
from torch.utils.data import DataLoader, Dataset
import seen

asked = {}


class Counted(Dataset):
    def __getattribute__(self, name):
        if name in ("targets", "labels", "data", "tensors", "samples", "classes", "indices", "dataset", "transform"):
            asked[name] = asked.get(name, 0) + 1
        return super().__getattribute__(name)

    def __len__(self):
        asked["len"] = asked.get("len", 0) + 1
        return 32

    def __getitem__(self, index):
        asked["item"] = asked.get("item", 0) + 1
        return torch.randn(4), torch.randint(3, ()).item()

    @property
    def targets(self):
        return [torch.randint(3, ()).item() for _ in range(32)]


torch.manual_seed(0)
net = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
loader = DataLoader(Counted(), batch_size=8, shuffle=True)
for epoch in range(4):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
print(asked, seen.digest(net), seen.random_states())
