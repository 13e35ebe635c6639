"""Weights are plain tensors: new ones in each step, by autograd.grad, without any optimizer."""
import torch
import seen

torch.manual_seed(0)
weight, bias = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for step in range(40):
    x = torch.randn(8, 4)
    loss = torch.nn.functional.mse_loss(x @ weight + bias, x.sum(1, keepdim=True))
    gradients = torch.autograd.grad(loss, (weight, bias))
    weight, bias = (
        (value - 0.05 * gradient).detach().requires_grad_() for value, gradient in zip((weight, bias), gradients)
    )
print("%.6f" % loss.item(), seen.digest_of(weight, bias))
