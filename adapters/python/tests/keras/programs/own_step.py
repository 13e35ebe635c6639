"""A model with a training step of its own, one with two optimizers, and one that draws random numbers."""

import sys

from data import is_keras_2, keras, layers, numbers, say

way = sys.argv[1]
is_tensorflow = is_keras_2 or keras.config.backend() == "tensorflow"
is_torch = not is_tensorflow and keras.config.backend() == "torch"
if is_tensorflow:
    import tensorflow as tf
elif is_torch:
    import torch
else:
    import jax
keras.utils.set_random_seed(1)


class OwnStep(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(8, activation="relu", name="first")
        self.out = layers.Dense(1)

    def call(self, x, training=False):
        return self.out(self.hidden(x))

    if is_tensorflow:

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                error = y_pred - y
                if way == "random":
                    error = error + tf.random.normal(tf.shape(error))
                loss = tf.reduce_mean(tf.square(error))
                if way == "compiled_loss":
                    loss = self.compiled_loss(y, y_pred)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            return {"mine": loss}

        def test_step(self, data):
            x, y = data
            return {"mine": self.compiled_loss(y, self(x, training=False))}

    elif is_torch:

        def train_step(self, data):
            x, y = data
            self.zero_grad()
            loss = keras.ops.mean((self(x, training=True) - y) ** 2)
            loss.backward()
            variables = self.trainable_weights[:]
            with torch.no_grad():
                self.optimizer.apply([each.value.grad for each in variables], variables)
            return {"mine": loss}

    else:

        def loss_of(self, trainable, non_trainable, x, y):
            y_pred, non_trainable = self.stateless_call(trainable, non_trainable, x, training=True)
            return keras.ops.mean((y_pred - y) ** 2), non_trainable

        def train_step(self, state, data):
            trainable, non_trainable, optimizer, metrics = state
            x, y = data
            (loss, non_trainable), gradients = jax.value_and_grad(self.loss_of, has_aux=True)(
                trainable, non_trainable, x, y
            )
            trainable, optimizer = self.optimizer.stateless_apply(optimizer, gradients, trainable)
            return {"mine": loss}, (trainable, non_trainable, optimizer, metrics)


features, labels = numbers()
model = OwnStep()
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mean_squared_error")
if way == "callback":

    class Looks(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            print(sorted(logs))

    print(model.fit(features, labels, batch_size=32, verbose=0, callbacks=[Looks()]).history)
print(model.fit(features, labels, batch_size=32, epochs=2, verbose=0).history)
if way == "compiled_loss":
    print(model.evaluate(features, labels, batch_size=32, verbose=0))
say(model)
