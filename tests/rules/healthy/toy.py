"""Data that small models learn in seconds: the same at every run."""

import torch
from torch.utils.data import DataLoader, TensorDataset

TEXT = (
    "a run is one execution of a training program and its folder. a trial is a read handle on a run. a rule judges a "
    "step and answers with a verdict. evidence are the numbers that speak for it. what was captured is never lost. "
) * 12


def begin(seed=0):
    torch.manual_seed(seed)
    torch.set_num_threads(1)


def blobs(samples=512, features=20, classes=4, noise=0.7):
    """Points around a centre for each class: inputs [samples, features], labels [samples]."""
    centres = torch.randn(classes, features)
    labels = torch.randint(0, classes, (samples,))
    return centres[labels] + noise * torch.randn(samples, features), labels


def images(samples=256, classes=4, size=12):
    """A bright bar whose place and direction are the class, in noise: [samples, 1, size, size], labels [samples]."""
    labels = torch.randint(0, classes, (samples,))
    pictures = 0.5 * torch.randn(samples, 1, size, size)
    for picture, label in zip(pictures, labels.tolist()):
        at = size // 4 + (size // 2) * (label // 2)
        if label % 2:
            picture[0, at - 1 : at + 1, :] += 2
        else:
            picture[0, :, at - 1 : at + 1] += 2
    return pictures, labels


def waves(samples=256, steps=16):
    """Sine waves of random frequency and phase, and how they go on: [samples, steps, 1], [samples, 1]."""
    frequency, phase = 0.2 + torch.rand(samples, 1), 6.28 * torch.rand(samples, 1)
    wave = torch.sin(frequency * torch.arange(steps + 1) + phase)
    return wave[:, :-1, None], wave[:, -1:]


def text():
    """The text as numbers of its letters, and how many there are."""
    letters = sorted(set(TEXT))
    return torch.tensor([letters.index(letter) for letter in TEXT]), len(letters)


def windows(numbers, length=24):
    """Pieces of a text, and the same one letter later."""
    starts = torch.arange(0, len(numbers) - length - 1, 3)
    inputs = torch.stack([numbers[start : start + length] for start in starts])
    targets = torch.stack([numbers[start + 1 : start + length + 1] for start in starts])
    return inputs, targets


def batches(inputs, labels, size=32, shuffle=True):
    return DataLoader(TensorDataset(inputs, labels), batch_size=size, shuffle=shuffle, drop_last=True)
