"""wandb#11907: torch.save warns of tensors that carry hooks; none of the training's does."""
import io
import warnings
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for step in range(20):
        optimizer.zero_grad()
        output = net(torch.randn(8, 4))
        loss = torch.nn.functional.mse_loss(output, torch.ones(8, 1))
        loss.backward()
        optimizer.step()
        if step in (2, 19):
            gradients = [each.grad for each in net.parameters()]
            for thing in (list(net.parameters()), gradients, optimizer.state_dict(), output.detach()):
                torch.save(thing, io.BytesIO())
print([str(each.message)[:80] for each in caught], output._backward_hooks, loss._backward_hooks, seen.digest(net))
