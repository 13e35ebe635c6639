"""A convolutional network with batch norm that sorts images, in a loop with accelerate and an evaluation each epoch.

Faults: after the first evaluation nothing puts the model back into training mode; zero_grad() is forgotten; the model
ends in a softmax although the loss has one.

fault eval-mode: ModeMistake
fault missing-zero-grad: MissingZeroGrad
fault double-softmax: SoftmaxLossMismatch
"""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 6
SIZE = 16
EPOCHS = 8


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]


def network(fault):
    layers = [*block(1, 16), *block(16, 32), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * (SIZE // 4) ** 2, CLASSES)]
    return nn.Sequential(*layers, nn.Softmax(dim=1)) if fault == "double-softmax" else nn.Sequential(*layers)


def images(count, patterns):
    """A pattern of the class, moved by some pixels, in noise."""
    labels = torch.randint(0, CLASSES, (count,))
    moved = [patterns[label].roll(int(torch.randint(0, 4, ())), -1) for label in labels]
    return TensorDataset(torch.stack(moved) + torch.randn(count, 1, SIZE, SIZE), labels)


def evaluate(accelerator, model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for pictures, labels in loader:
            predicted, labels = accelerator.gather_for_metrics((model(pictures).argmax(1), labels))
            right, total = right + int((predicted == labels).sum()), total + len(labels)
    return right / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["eval-mode", "missing-zero-grad", "double-softmax"])
    fault = parser.parse_args().fault
    set_seed(0)
    accelerator = Accelerator(cpu=True)
    patterns = torch.randn(CLASSES, 1, SIZE, SIZE)
    model = network(fault)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.1)
    training = DataLoader(images(2000, patterns), 32, shuffle=True)
    validation = DataLoader(images(300, patterns), 100)
    model, optimizer, training, validation = accelerator.prepare(model, optimizer, training, validation)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(EPOCHS):
        if fault != "eval-mode":
            model.train()
        for pictures, labels in training:
            loss = criterion(model(pictures), labels)
            accelerator.backward(loss)
            optimizer.step()
            if fault != "missing-zero-grad":
                optimizer.zero_grad()
        schedule.step()
        accuracy = evaluate(accelerator, model, validation)
        accelerator.print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")
    accelerator.save_model(model, "out/accelerate_images")


if __name__ == "__main__":
    main()
