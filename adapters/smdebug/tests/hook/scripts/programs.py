"""Trainings that use smdebug's hook. Each runs unchanged under smdebug 1.0.34 and under ours.

    PYTHON programs.py FOLDER [plain] NAME...

writes into FOLDER/NAME, and prints a line with the digest of the parameters that were trained, for each program; with
`plain` without a hook. What follows a "-" in a name tells runs of the same program apart.
"""

from __future__ import annotations

import hashlib
import sys

import torch
from torch import nn
from torch.nn import functional

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(4, 4, 3)
        self.relu2 = nn.ReLU(inplace=True)
        self.fc = nn.Linear(4 * 16, 10)

    def forward(self, images):
        hidden = self.relu2(self.conv2(self.relu1(self.conv1(images))))
        return self.fc(hidden.flatten(1))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.dropout = nn.Dropout(0.5)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, batch):
        return self.fc2(self.dropout(torch.relu(self.fc1(batch))))


class Nested(nn.Module):
    """Gives a tensor within lists and tuples, a dict, a number of another type, and a parameter."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, batch, pair=None):
        words = batch > 0
        return [batch * self.scale, (words, [words.sum(1)])], {"a": batch}, self.scale, batch.double()


class Shared(nn.Module):
    """One layer is called twice, one is frozen, and one takes and gives tuples."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.frozen = nn.Linear(3, 3)
        self.nested = Nested()
        for parameter in self.frozen.parameters():
            parameter.requires_grad = False

    def forward(self, batch):
        hidden = self.layer(self.layer(self.frozen(batch)))
        return self.nested(hidden, (batch, [batch]))[0][0]


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 4)
        self.lstm = nn.LSTM(4, 5, batch_first=True)
        self.head = nn.Linear(5, 2)

    def forward(self, text):
        hidden, (state, cell) = self.lstm(self.embedding(text))
        return self.head(state[0] + cell[0] + hidden.mean(1))


def train(model, batches, step_of=None, loss=None):
    """`step_of(index)` is called before each step; `loss`: of output and target."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for index, (batch, target) in enumerate(batches):
        if step_of is not None:
            step_of(index)
        optimizer.zero_grad()
        value = loss(model(batch), target)
        value.backward()
        optimizer.step()


def images(count, classes=10):
    return [(torch.rand(4, 1, 8, 8), torch.randint(0, classes, (4,))) for _ in range(count)]


def points(count):
    return [(torch.randn(5, 6), torch.randint(0, 3, (5,))) for _ in range(count)]


def register(hook, model, loss=None):
    if hook is not None:
        hook.register_module(model)
        if loss is not None:
            hook.register_loss(loss)


def train_net(hook, steps=7):
    model, loss = Net(), nn.CrossEntropyLoss()
    register(hook, model, loss)
    train(model, images(steps), loss=loss)
    return model


@program
def parts(smd, folder):
    """Weights, biases, gradients and losses at each second step."""
    hook = smd and smd.Hook(
        folder, save_config=smd.SaveConfig(save_interval=2), include_collections=["weights", "biases", "gradients"]
    )
    return train_net(hook)


@program
def defaults(smd, folder):
    """What is saved when nothing is asked for."""
    return train_net(smd and smd.Hook(folder), steps=2)


@program
def everything(smd, folder):
    return train_net(smd and smd.Hook(folder, save_all=True, save_config=smd.SaveConfig(save_interval=3)), steps=4)


@program
def schedule(smd, folder):
    """Bounds, single steps, and a collection with a schedule of its own."""
    hook = smd and smd.Hook(
        folder,
        save_config=smd.SaveConfig(save_interval=3, start_step=4, end_step=10, save_steps=[1, 11]),
        include_collections=["weights", "biases"],
    )
    if hook:
        hook.get_collection("biases").save_config = smd.SaveConfig(end_step=0, save_steps=[2])
    return train_net(hook, steps=13)


@program
def patterns(smd, folder):
    """Patterns, a collection of module tensors, and one that is added."""
    hook = smd and smd.Hook(
        folder,
        save_config=smd.SaveConfig(save_interval=1),
        include_regex=["relu", "fc_input_0"],
        include_collections=["convolutions", "added"],
    )
    model, loss = Net(), nn.CrossEntropyLoss()
    if hook:
        hook.get_collection("convolutions").add_module_tensors(model.conv1, inputs=True, outputs=True)
        hook.get_collection("convolutions").add_module_tensors(model.conv2)
        hook.add_collection(
            smd.Collection("added", include_regex=["conv2.weight$"], save_config=smd.SaveConfig(save_interval=2))
        )
    register(hook, model, loss)
    train(model, images(4), loss=loss)
    return model


@program
def all_with_patterns(smd, folder):
    """The collection `all` has patterns of its own: every collection is saved, and these."""
    hook = smd and smd.Hook(
        folder, save_config=smd.SaveConfig(save_interval=1), include_collections=[smd.CollectionKeys.ALL]
    )
    if hook:
        hook.get_collection("all").include("relu1_output")
    return train_net(hook, steps=2)


@program
def modes(smd, folder):
    """Training, evaluation and prediction, each with its own schedule; gradients in training only."""
    hook = None
    if smd:
        by_mode = {
            smd.modes.TRAIN: smd.SaveConfigMode(save_interval=2),
            smd.modes.EVAL: smd.SaveConfigMode(save_interval=1),
            smd.modes.PREDICT: smd.SaveConfigMode(save_interval=1, end_step=1),
        }
        hook = smd.Hook(folder, save_config=by_mode, save_all=True)
    model, loss = Mlp(), nn.CrossEntropyLoss()
    register(hook, model, loss)
    for _ in range(2):
        if hook:
            hook.set_mode(smd.modes.TRAIN)
        train(model.train(), points(3), loss=loss)
        for mode in ("EVAL", "PREDICT"):
            if hook:
                hook.set_mode(smd.modes[mode])
            model.eval()
            with torch.no_grad():
                for batch, target in points(2):
                    output = model(batch)
                    if mode == "EVAL":
                        loss(output, target)
    return model


@program
def shared(smd, folder):
    """A layer that is called twice, frozen parameters, nested values of several types."""
    hook = smd and smd.Hook(folder, save_all=True, save_config=smd.SaveConfig(save_interval=1))
    model, loss = Shared(), nn.MSELoss()
    register(hook, model, loss)
    train(model, [(torch.randn(4, 3), torch.randn(4, 3)) for _ in range(3)], loss=loss)
    return model


@program
def recurrent(smd, folder):
    hook = smd and smd.Hook(folder, save_all=True, save_config=smd.SaveConfig(save_interval=2))
    model, loss = Words(), nn.CrossEntropyLoss()
    register(hook, model, loss)
    train(model, [(torch.randint(0, 11, (4, 6)), torch.randint(0, 2, (4,))) for _ in range(3)], loss=loss)
    return model


@program
def functional_loss(smd, folder):
    hook = smd and smd.Hook(folder, save_config=smd.SaveConfig(save_interval=1))
    model = Mlp()
    register(hook, model)

    def loss(output, target):
        value = functional.nll_loss(torch.log_softmax(output, 1), target)
        if hook:
            hook.record_tensor_value("nll_loss", value)
        return value

    train(model, points(3), loss=loss)
    return model


@program
def reductions(smd, folder):
    """Every reduction and norm of weights, beside the value; shapes of gradients; products of biases."""
    hook = None
    if smd:
        hook = smd.Hook(
            folder,
            save_config=smd.SaveConfig(save_interval=2),
            reduction_config=smd.ReductionConfig(reductions=["min", "max"], save_raw_tensor=True),
            include_collections=["weights", "gradients", "biases"],
        )
        names = ["min", "max", "mean", "std", "variance", "sum"]
        hook.get_collection("weights").reduction_config = smd.ReductionConfig(
            names, names, ["l1", "l2"], ["l1", "l2"], save_raw_tensor=True
        )
        hook.get_collection("gradients").reduction_config = smd.ReductionConfig(save_shape=True)
        hook.get_collection("biases").reduction_config = smd.ReductionConfig(["prod", "mean"], ["prod"], ["l2"])
    return train_net(hook, steps=3)


@program
def by_hand(smd, folder):
    """save_scalar and save_tensor."""
    hook = smd and smd.Hook(folder, save_config=smd.SaveConfig(save_interval=1))
    model, loss = Mlp(), nn.CrossEntropyLoss()
    register(hook, model, loss)
    batches = points(4)

    def before(index):
        if hook:
            hook.save_tensor("labels", batches[index][1], collections_to_write="labels")
            hook.save_tensor("numbers", torch.arange(3) + index)

    if hook:
        hook.get_collection("labels").include("^labels$")
        hook.include_collections.append("labels")
    train(model, batches, before, loss=loss)
    if hook:
        hook.save_scalar("accuracy", 0.25)
        hook.save_scalar("loss", torch.tensor(1.5))
    return model


@program
def data_parallel(smd, folder):
    hook = smd and smd.Hook(folder, save_all=True, save_config=smd.SaveConfig(save_interval=1))
    model, loss = nn.DataParallel(Mlp()), nn.CrossEntropyLoss()
    register(hook, model, loss)
    train(model, points(2), loss=loss)
    return model


@program
def two_models(smd, folder):
    """Each call of either is a step."""
    hook = smd and smd.Hook(
        folder, save_config=smd.SaveConfig(save_interval=1), include_collections=["weights", "gradients"]
    )
    first, second, loss = Mlp(), nn.Linear(3, 3), nn.CrossEntropyLoss()
    register(hook, first)
    register(hook, second, loss)
    train(nn.Sequential(first, second), points(2), loss=loss)
    return first


@program
def from_json(smd, folder):
    """The hook of the JSON file beside the folder."""
    hook = smd and smd.Hook.create_from_json_file(f"{folder}.hook.json")
    if hook:
        hook.set_mode(smd.modes.TRAIN)
    return train_net(hook, steps=6)


def digest_of(model):
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    return digest.hexdigest()


def main():
    folder, *names = sys.argv[1:]
    smd = None
    if names[0] == "plain":
        names = names[1:]
    else:
        import smdebug.pytorch as smd
    torch.set_num_threads(1)
    for name in names:
        torch.manual_seed(7)
        model = PROGRAMS[name.partition("-")[0]](smd, f"{folder}/{name}")
        if smd:
            smd.get_hook().close()
        print(name, digest_of(model))


if __name__ == "__main__":
    main()
