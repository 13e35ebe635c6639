"""timm: a ResNet in the parts of its own training script: mixup, an averaged model, its optimizer and schedule."""

import torch
from ending import end, say_loss
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.models import create_model
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2
from timm.utils import ModelEmaV3, dispatch_clip_grad
import numpy as np

STEPS = 10
torch.manual_seed(7)
np.random.seed(7)
model = create_model("resnet10t", pretrained=False, num_classes=5, drop_rate=0.1)
optimizer = create_optimizer_v2(model, opt="lamb", lr=1e-3, weight_decay=0.01)
schedule, _ = create_scheduler_v2(optimizer, sched="cosine", num_epochs=STEPS, updates_per_epoch=1)
averaged, mixup, criterion = ModelEmaV3(model, decay=0.9), Mixup(num_classes=5), SoftTargetCrossEntropy()
for step in range(STEPS):
    model.train()
    images, labels = mixup(torch.randn(4, 3, 64, 64), torch.randint(0, 5, (4,)))
    loss = criterion(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    dispatch_clip_grad(model.parameters(), 1.0)
    optimizer.step()
    averaged.update(model)
    schedule.step_update(num_updates=step)
    say_loss(step, loss)
model.eval()
with torch.no_grad():
    images = torch.randn(4, 3, 64, 64)
    say_loss("eval", model(images).pow(2).mean())
    say_loss("averaged", averaged(images).pow(2).mean())
names = ["conv1.0.weight", "gradient/layer1.0.conv1.weight", "layer2.0.bn1.running_mean", "ResNet_output_0"]
end(STEPS, model, averaged, names=names, loss="loss_output_0")
