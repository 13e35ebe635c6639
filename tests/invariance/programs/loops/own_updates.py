"""A module whose weights the program changes itself after backward(), by .data, in no_grad and by copy_."""
import torch
import seen

net = seen.small_net()
for step in range(45):
    for parameter in net.parameters():
        parameter.grad = None
    net(torch.randn(8, 4)).pow(2).mean().backward()
    if step % 3 == 0:
        for parameter in net.parameters():
            parameter.data -= 0.05 * parameter.grad.data
    else:
        with torch.no_grad():
            for parameter in net.parameters():
                if step % 3 == 1:
                    parameter -= 0.05 * parameter.grad
                else:
                    parameter.copy_(parameter - 0.05 * parameter.grad)
print(seen.digest(net))
