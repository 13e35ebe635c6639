"""A student and a teacher that is its moving average: the teacher is never optimised, and always in evaluation mode."""
import copy

import toy
import torch
import torch.nn.functional as F
from torch import nn

toy.begin()
loader = toy.batches(*toy.blobs())
student = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 4))
teacher = copy.deepcopy(student).eval()
for parameter in teacher.parameters():
    parameter.requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(12):
    for x, y in loader:
        out = student(x)
        with torch.no_grad():
            target = teacher(x).softmax(1)
        loss = F.cross_entropy(out, y) + 0.5 * F.mse_loss(out.softmax(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for mine, other in zip(teacher.parameters(), student.parameters()):
                mine.mul_(0.95).add_(other, alpha=0.05)
