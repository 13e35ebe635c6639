import acting
import torch

given = acting.arguments()
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
features, labels = torch.randn(32, 4), torch.randn(32, 1)
for step, features, labels in acting.batches(given, features, labels):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(features), labels)
    loss.backward()
    optimizer.step()
    acting.step_ended(given, step, loss)
acting.finish(b"".join(parameter.detach().numpy().tobytes() for parameter in model.parameters()))
