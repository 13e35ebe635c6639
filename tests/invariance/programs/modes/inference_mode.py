"""Evaluation in inference mode between steps; tensors of it may not be saved for a backward pass."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
values = []
for step in range(15):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    net.eval()
    with torch.inference_mode():
        output = net(torch.ones(2, 4))
        loss = torch.nn.functional.mse_loss(output, torch.ones(2, 1))
    values.append((round(loss.item(), 6), output.is_inference(), loss.is_inference(), loss._is_view()))
    net.train()
print(values, seen.digest(net))
