"""A cell in a loop of 150 under L-BFGS with 10 evaluations a step (the time sequence example of PyTorch)."""
import torch
import seen

torch.manual_seed(0)
torch.set_num_threads(1)
cell, head = torch.nn.LSTMCell(1, 24), torch.nn.Linear(24, 1)
optimizer = torch.optim.LBFGS([*cell.parameters(), *head.parameters()], lr=0.1, max_iter=10)
data = torch.sin(torch.arange(0, 15, 0.1)).repeat(64, 1)
for step in range(3):

    def closure():
        optimizer.zero_grad()
        h, c = torch.zeros(64, 24), torch.zeros(64, 24)
        outputs = []
        for index in range(data.shape[1] - 1):
            h, c = cell(data[:, index : index + 1], (h, c))
            outputs.append(head(h))
        loss = torch.nn.functional.mse_loss(torch.cat(outputs, 1), data[:, 1:])
        loss.backward()
        return loss

    value = optimizer.step(closure)
print("%.6f" % value.item(), seen.digest(cell, head))
