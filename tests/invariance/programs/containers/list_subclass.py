"""An argument is a subclass of list whose iteration counts and draws a random number."""
import random
import torch
import seen


class Counting(list):
    looks = 0

    def __iter__(self):
        Counting.looks += 1
        random.random()
        return super().__iter__()

    def __getitem__(self, index):
        Counting.looks += 100
        return super().__getitem__(index)

    def __len__(self):
        Counting.looks += 10000
        return super().__len__()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, parts):
        return self.linear(parts[0] + parts[1])


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for step in range(40):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(Counting([torch.randn(8, 4), torch.randn(8, 4)])), torch.ones(8, 1))
    loss.backward()
    optimizer.step()
print(Counting.looks, seen.digest(net), seen.random_states())
