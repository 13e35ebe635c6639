"""wandb#279: two models of one class, watched at once, with equal names of parameters and of variables."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
model = model2 = None
models = [Net(), Net()]
model, model2 = models
optimizers = [torch.optim.SGD(each.parameters(), 0.05) for each in models]
for step in range(40):
    x = torch.randn(8, 4)
    for each, optimizer in zip(models, optimizers):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(each(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()
    if step == 20:
        model = models[0] = Net()
        optimizers[0] = torch.optim.SGD(model.parameters(), 0.05)
print(seen.digest(model, model2))
