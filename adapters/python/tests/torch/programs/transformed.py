"""torch.func.grad in a training: of its loss ("loss"), of each sample ("samples"), beside backward() ("beside"), and of
parameters that are in no module ("stacked")."""

import sys

import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, stack_module_state, vmap
from torch.nn import functional as F

from outcome import report, sees


def train(loss_of_step):
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(4):
        x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
        optimizer.zero_grad()
        name, loss = loss_of_step(model, x, y)
        sees(name, loss)
        sees("gradient/0.weight", model[0].weight.grad)
        optimizer.step()
        sees("0.weight", model[0].weight)
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


def give(model, gradients):
    for name, parameter in model.named_parameters():
        parameter.grad = gradients[name].detach()


def by_loss(model, x, y):
    def loss_of(parameters):
        return F.cross_entropy(functional_call(model, parameters, (x,)), y)

    gradients, loss = grad_and_value(loss_of)({name: each.detach() for name, each in model.named_parameters()})
    give(model, gradients)
    return "nll_loss_output_0", loss


def by_samples(model, x, y):
    def loss_of(parameters, x, y):
        output = functional_call(model, parameters, (x.unsqueeze(0),))
        return (output.logsumexp(1) - output.gather(1, y.view(1, 1)).squeeze(1)).sum()

    parameters = {name: each.detach() for name, each in model.named_parameters()}
    gradients, losses = vmap(grad_and_value(loss_of), in_dims=(None, 0, 0))(parameters, x, y)
    give(model, {name: each.mean(0) for name, each in gradients.items()})
    return "loss_output_0", losses.mean()


def beside_backward(model, x, y):
    slope = vmap(grad(lambda each: model(each).sum()))(x)
    loss = slope.pow(2).mean() + F.cross_entropy(model(x), y)
    loss.backward()
    return "loss_output_0", loss


def train_stacked():
    models = [nn.Linear(4, 3) for _ in range(2)]
    parameters, buffers = stack_module_state(models)
    optimizer = torch.optim.SGD(parameters.values(), lr=0.1)
    for step in range(4):
        x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
        optimizer.zero_grad()
        output = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(parameters, buffers)
        loss = F.cross_entropy(output.flatten(0, 1), y.repeat(2))
        loss.backward()
        sees("nll_loss_output_0", loss)
        sees("gradient/weight", parameters["weight"].grad)
        optimizer.step()
        sees("weight", parameters["weight"])
        print(f"step {step} loss {loss.item():.17g}")
    report(nn.ParameterDict(parameters))


if __name__ == "__main__":
    torch.manual_seed(32)
    if sys.argv[1] == "stacked":
        train_stacked()
        sys.exit()
    train({"loss": by_loss, "samples": by_samples, "beside": beside_backward}[sys.argv[1]])
