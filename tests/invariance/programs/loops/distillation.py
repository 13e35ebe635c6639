"""A student learns from a teacher in evaluation mode, with two losses and a temperature."""
import torch
import torch.nn.functional as F
import seen

teacher, student = seen.small_net(32, 4), seen.small_net(4, 4)
teacher.eval()
optimizer = torch.optim.Adam(student.parameters(), 0.01)
for step in range(40):
    x, y = torch.randn(16, 4), torch.randint(4, (16,))
    with torch.no_grad():
        wanted = teacher(x)
    got = student(x)
    soft = F.kl_div(F.log_softmax(got / 2, 1), F.softmax(wanted / 2, 1), reduction="batchmean") * 4
    optimizer.zero_grad()
    (0.5 * soft + 0.5 * F.cross_entropy(got, y)).backward()
    optimizer.step()
print(seen.digest(teacher, student))
