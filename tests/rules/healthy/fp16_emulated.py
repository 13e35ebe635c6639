"""fp16 as a GPU would have it, on a CPU: activations and gradients are rounded to it, and the loss is scaled by hand.
The scale begins too high: the first steps overflow and are left out, as a gradient scaler does."""
import toy
import torch
from torch import nn


class Half(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.half().float()

    @staticmethod
    def backward(context, gradient):
        return gradient.half().float()


class Layer(nn.Linear):
    def forward(self, x):
        return Half.apply(super().forward(x))


toy.begin()
loader = toy.batches(*toy.blobs())
model = nn.Sequential(Layer(20, 64), nn.ReLU(), Layer(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
scale, good = 2.0**24, 0
for epoch in range(12):
    for x, y in loader:
        optimizer.zero_grad()
        (criterion(model(x), y) * scale).backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        if all(torch.isfinite(gradient).all() for gradient in gradients):
            for gradient in gradients:
                gradient /= scale
            optimizer.step()
            good += 1
            scale = scale * 2 if good % 100 == 0 else scale
        else:
            scale /= 2
