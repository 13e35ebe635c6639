"""autograd.Function of the program's own with a context, non-differentiable outputs and in-place marks."""
import torch
import seen


class Clip(torch.autograd.Function):
    calls = [0, 0]

    @staticmethod
    def forward(ctx, x, limit):
        Clip.calls[0] += 1
        ctx.save_for_backward(x)
        ctx.limit = limit
        mask = x.abs() < limit
        ctx.mark_non_differentiable(mask)
        return x.clamp(-limit, limit), mask

    @staticmethod
    def backward(ctx, gradient, _):
        Clip.calls[1] += 1
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() < ctx.limit), None


net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(30):
    optimizer.zero_grad()
    output, mask = Clip.apply(net(torch.randn(8, 4)), 1.0)
    (output.pow(2).mean() * mask.float().mean()).backward()
    optimizer.step()
print(Clip.calls, seen.digest(net))
