"""With the garbage collector off, what reference counts alone can free is freed."""
import gc
import weakref
import torch

gc.disable()
outputs, nets = [], []
for number in range(5):
    torch.manual_seed(number)
    net = torch.nn.Linear(64, 1)
    for step in range(8):
        net.zero_grad()
        output = net(torch.randn(8, 64))
        loss = torch.nn.functional.mse_loss(output, torch.ones(8, 1))
        outputs.append((weakref.ref(output), weakref.ref(loss)))
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.01 * parameter.grad
    nets.append(weakref.ref(net))
    del net, output, loss, parameter
    print(number, sum(a() is not None or b() is not None for a, b in outputs), sum(each() is not None for each in nets))
