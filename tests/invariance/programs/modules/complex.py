"""Complex weights and inputs, quantised and boolean buffers, half precision, integers."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 4, dtype=torch.complex64))
        self.small = torch.nn.Parameter(torch.ones(4).bfloat16())
        self.register_buffer("mask", torch.tensor([True, False, True, True]))
        self.register_buffer("bytes", torch.arange(4, dtype=torch.uint8))
        self.register_buffer("quantised", torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8))

    def forward(self, x):
        return (x.to(torch.complex64) @ self.weight).abs() * self.small.float() * self.mask


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(seen.digest_of(net.weight, net.small.float(), net.mask, net.bytes), net.quantised.int_repr().tolist())
