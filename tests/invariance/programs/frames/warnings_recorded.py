"""All warnings of a whole training, recorded; scalars where tensors are usual provoke some."""
import warnings
import torch
import seen

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    scheduler.step()
    for step in range(20):
        optimizer.zero_grad()
        output = net(torch.randn(8, 4))
        torch.nn.functional.mse_loss(output, torch.ones(8)).backward()
        output.grad
        optimizer.step()
    torch.nn.Module.zero_grad(net)
print(len(caught), sorted({(each.category.__name__, str(each.message)[:60], each.lineno) for each in caught}))
print(seen.digest(net))
