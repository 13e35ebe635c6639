"""Every warning is an error from the first line on."""
import warnings

warnings.simplefilter("error")
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
for step in range(40):
    optimizer.zero_grad()
    y = net(torch.randn(8, 4))
    torch.nn.functional.mse_loss(y, torch.ones(8, 1)).backward()
    optimizer.step()
    scheduler.step()
net.eval()
with torch.no_grad():
    print("%.6f" % net(torch.ones(2, 4)).sum().item())
torch.save(net.state_dict(), "net.pt")
print(warnings.filters[0][:2], len(warnings.filters), seen.digest(net))
