"""Three optimizers that step at different rhythms, one of them never."""
import torch
import seen

torch.manual_seed(0)
nets = [torch.nn.Linear(4, 4) for _ in range(3)]
optimizers = [torch.optim.SGD(net.parameters(), 0.05) for net in nets]
never = torch.optim.Adam(nets[0].parameters(), 0.1)
for step in range(50):
    x = torch.randn(8, 4)
    for net in nets:
        x = torch.tanh(net(x))
    x.pow(2).mean().backward()
    for rhythm, optimizer in zip((1, 2, 5), optimizers):
        if step % rhythm == 0:
            optimizer.step()
            optimizer.zero_grad()
print(len(never.state), seen.digest(*nets))
