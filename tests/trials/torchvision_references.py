"""torchvision: the loops of its references for classification ("classify") and detection ("detect")."""

import sys

import torch
from ending import end, say_loss
from torch.nn import functional as F
from torchvision import models
from torchvision.transforms import v2


def classify():
    """Mixup by its transforms, label smoothing, a warm-up, an averaged model."""
    model = models.resnet18(num_classes=5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3)
    schedule = torch.optim.lr_scheduler.SequentialLR(
        optimizer, [warm, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 7)], milestones=[3]
    )
    averaged = torch.optim.swa_utils.AveragedModel(model)
    mixes = v2.RandomChoice([v2.MixUp(num_classes=5), v2.CutMix(num_classes=5)])
    for step in range(8):
        images, labels = mixes(torch.randn(4, 3, 32, 32), torch.randint(0, 5, (4,)))
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        averaged.update_parameters(model)
        schedule.step()
        say_loss(step, loss)
    model.eval()
    averaged.eval()
    with torch.inference_mode():
        say_loss("eval", model(torch.randn(2, 3, 32, 32)).pow(2).mean())
        say_loss("averaged", averaged(torch.randn(2, 3, 32, 32)).pow(2).mean())
    names = ["conv1.weight", "gradient/layer4.1.bn2.weight", "layer1.0_output_0", "ResNet_output_0"]
    end(8, model, averaged, names=names, loss="loss_output_0")


def detect():
    """A model that gives its losses itself, as a dict."""
    make = models.detection.fasterrcnn_mobilenet_v3_large_320_fpn
    model = make(weights=None, weights_backbone=None, num_classes=3)
    trained = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.005, momentum=0.9)
    boxes = torch.tensor([[4.0, 4.0, 40.0, 40.0], [20.0, 8.0, 60.0, 50.0]])
    for step in range(5):
        targets = [{"boxes": boxes + step, "labels": torch.tensor([1, 2])} for _ in range(2)]
        losses = model([torch.rand(3, 64, 64) for _ in range(2)], targets)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say_loss(step, loss)
    model.eval()
    with torch.no_grad():
        print("boxes", len(model([torch.rand(3, 64, 64)])[0]["boxes"]))
    names = ["roi_heads.box_predictor.cls_score.weight", "gradient/rpn.head.cls_logits.weight"]
    end(5, model, names=names, loss="loss_output_0")


if __name__ == "__main__":
    torch.manual_seed(8)
    {"classify": classify, "detect": detect}[sys.argv[1]]()
