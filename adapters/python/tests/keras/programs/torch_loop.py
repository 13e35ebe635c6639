"""On PyTorch, a loop of one's own with an optimizer of Keras or of PyTorch, or a model that is called before it is fitted,
as the first argument says."""

import sys

import numpy as np
import torch
from data import keras, layers, numbers, say

way = sys.argv[1]
keras.utils.set_random_seed(1)
features, labels = numbers()
model = keras.Sequential([keras.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.05), "mean_squared_error")
print(float(model(features).mean()))
if way == "called":
    print(model.fit(features, labels, batch_size=32, epochs=2, verbose=0).history)
else:
    theirs = torch.optim.SGD(model.parameters(), 0.05) if way == "torch" else None
    for begin in range(0, 96, 32):
        predicted = model(features[begin : begin + 32])
        loss = ((predicted - torch.as_tensor(labels[begin : begin + 32], device=predicted.device)) ** 2).mean()
        model.zero_grad()
        loss.backward()
        if theirs is not None:
            theirs.step()
        else:
            with torch.no_grad():
                model.optimizer.apply([each.value.grad for each in model.trainable_weights], model.trainable_weights)
        print("loss", loss.item())
    assert np.isfinite(loss.item())
say(model)
