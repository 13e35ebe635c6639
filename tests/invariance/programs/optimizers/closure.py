"""An optimizer whose closure is called several times and counts; SGD with a closure as well."""
import torch
import seen

net = seen.small_net()
counts = []
x, y = torch.randn(32, 4), torch.randn(32, 1)
for optimizer in (torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=6), torch.optim.SGD(net.parameters(), 0.1)):
    for step in range(8):

        def closure():
            counts.append(step)
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(net(x), y)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
    print(type(loss).__name__, loss.requires_grad, "%.6f" % loss.item())
print(len(counts), seen.digest(net))
