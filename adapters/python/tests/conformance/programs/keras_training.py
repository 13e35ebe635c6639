import acting
import keras
import numpy as np

given = acting.arguments()
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mean_squared_error")
random = np.random.default_rng(1)
features, labels = random.random((32, 4)).astype("float32"), random.random((32, 1)).astype("float32")


class Ended(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):  # of one batch an epoch
        acting.step_ended(given, self.epoch, logs["loss"])

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch


class Batches(keras.utils.Sequence):
    batches = [(features, labels) for _, features, labels in acting.batches(given, features, labels)]

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, number):
        return self.batches[number]


if given.what in ("poison", "leave-out"):  # batches are not the same in all epochs
    model.fit(Batches(), shuffle=False, verbose=0)
else:
    model.fit(features, labels, batch_size=32, epochs=given.steps, shuffle=False, verbose=0, callbacks=[Ended()])
acting.finish(b"".join(np.asarray(weight).tobytes() for weight in model.get_weights()))
