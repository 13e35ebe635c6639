"""A GradScaler that is off, and one whose methods are asked for its state."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
scaler = torch.cuda.amp.GradScaler(enabled=False)
for step in range(20):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1))
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
print(scaled is loss, scaler.state_dict(), scaler.get_scale(), seen.digest(net))
