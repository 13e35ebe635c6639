"""torch.func with optimizers: gradients by grad ("grad"), for each sample ("samples"), of several models ("ensemble"),
of inputs beside a loss with backward() ("physics"), inside each other ("meta"), and without an optimizer ("bare")."""

import sys

import torch
from ending import end, say_loss
from tiny import Net, batch
from torch.func import functional_call, grad, grad_and_value, stack_module_state, vmap
from torch.nn import functional as F

STEPS = 12
NAMES = ["stem.weight", "gradient/stem.weight"]


def loss_of(parameters, model, x, y):
    return F.cross_entropy(functional_call(model, parameters, (x,)), y)


def train_by(gradients_of, names=NAMES):
    """The gradients go into an optimizer of torch."""
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
        gradients, loss = gradients_of(parameters, model, *batch(step))
        for name, parameter in model.named_parameters():
            parameter.grad = gradients[name]
        optimizer.step()
        say_loss(step, loss)
    end(STEPS, model, names=names, loss="nll_loss_output_0")


def by_samples(parameters, model, x, y):
    def loss_of_one(parameters, x, y):
        return loss_of(parameters, model, x.unsqueeze(0), y.unsqueeze(0))

    each, losses = vmap(grad_and_value(loss_of_one), in_dims=(None, 0, 0))(parameters, x, y)
    return {name: gradient.mean(0) for name, gradient in each.items()}, losses.mean()


def ensemble():
    """Models stacked on each other, trained by backward()."""
    models = [Net() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    base = Net().to("meta")
    optimizer = torch.optim.SGD(parameters.values(), lr=0.1)
    for step in range(STEPS):
        x, y = batch(step)
        outputs = vmap(lambda p, b: functional_call(base, (p, b), (x,)))(parameters, buffers)
        loss = F.cross_entropy(outputs.flatten(0, 1), y.repeat(3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say_loss(step, loss)
    holder = torch.nn.ParameterDict({name.replace(".", "_"): each for name, each in parameters.items()})
    end(STEPS, holder, loss="nll_loss_output_0")


def physics():
    """The derivative of the output by the input is a part of the loss."""
    model = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        x = torch.rand(16, 1)
        slope = vmap(grad(lambda each: model(each).squeeze()))(x)
        loss = F.mse_loss(slope, torch.cos(x)) + model(torch.zeros(1, 1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say_loss(step, loss)
    end(STEPS, model, names=["0.weight", "gradient/0.weight"], loss="loss_output_0")


def meta():
    """A step inside of the loss, as MAML has it."""

    def outer(parameters, model, x, y):
        inner = grad(loss_of)(parameters, model, x[:4], y[:4])
        return loss_of({name: each - 0.1 * inner[name] for name, each in parameters.items()}, model, x[4:], y[4:])

    train_by(grad_and_value(outer))


def bare():
    """No optimizer of torch: nobody says when a step ends."""
    model = Net()
    parameters = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    for step in range(STEPS):
        gradients, loss = grad_and_value(loss_of)(parameters, model, *batch(step))
        parameters = {name: each - 0.1 * gradients[name] for name, each in parameters.items()}
        say_loss(step, loss)
    model.load_state_dict(parameters)
    end(STEPS, model)


if __name__ == "__main__":
    torch.manual_seed(9)
    kinds = {
        "grad": lambda: train_by(grad_and_value(loss_of)),
        "samples": lambda: train_by(by_samples),
        "ensemble": ensemble, "physics": physics, "meta": meta, "bare": bare,
    }  # fmt: skip
    kinds[sys.argv[1]]()
