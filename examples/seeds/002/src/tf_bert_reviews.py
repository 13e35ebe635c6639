"""How many stars has a review? A DistilBERT of Hugging Face's library on TensorFlow learns to say it.

    python tf_bert_reviews.py --train_data train --validation_data validation --test_data test --epochs 3

It reads what prepare_reviews.py writes. With --pretrained FOLDER it begins from weights that are there (a folder with
config.json, vocab.txt and tf_model.h5 or model.safetensors); without, from random ones of a small model (--layers, --width).
It knows nothing of Trainwarden. In a job its folders are those of SageMaker's variables.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, DistilBertTokenizer, TFDistilBertModel

CLASSES = [1, 2, 3, 4, 5]
SAMPLES = ["I loved it! I will recommend this to everyone.", "It's OK.", "Really bad. I hope they don't make this anymore."]


def truth(text):
    return str(text).lower() in ("true", "1", "yes")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("train", "validation", "test"):
        parser.add_argument(f"--{name}_data", default=os.environ.get(f"SM_CHANNEL_{name.upper()}"))
        parser.add_argument(f"--{name}_batch_size", type=int, default=32)
    parser.add_argument("--model_dir", "--saved_path", default=os.environ.get("SM_MODEL_DIR", "model"))
    parser.add_argument("--output_dir", default=os.environ.get("SM_OUTPUT_DATA_DIR", "output"))
    parser.add_argument("--checkpoint_dir", default=os.environ.get("TRAINWARDEN_CHECKPOINT_DIR", "checkpoints"))
    parser.add_argument("--pretrained")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--epsilon", type=float, default=1e-8)
    for name in ("train_steps_per_epoch", "validation_steps", "test_steps"):
        parser.add_argument(f"--{name}", type=int, default=100)
    parser.add_argument("--max_seq_length", type=int, default=64)
    parser.add_argument("--target_accuracy", type=float, help="of the validation: training ends where it is reached")
    for name in ("use_xla", "use_amp", "freeze_bert_layer", "enable_checkpointing", "enable_tensorboard"):
        parser.add_argument(f"--{name}", type=truth, default=False)
    for name in ("run_validation", "run_test", "run_sample_predictions"):
        parser.add_argument(f"--{name}", type=truth, default=True)
    given, others = parser.parse_known_args()
    if others:
        print("not known here:", *others)  # the lab's script takes any, and so the notebook's cells run as they are
    return given


def batches(folder, size, length, repeats, shuffles=False):
    """Of (pieces and mask, label); the records of all files in the folder."""
    features = {name: tf.io.FixedLenFeature([length], tf.int64) for name in ("input_ids", "input_mask")}
    features["label_ids"] = tf.io.FixedLenFeature([], tf.int64)

    def parsed(record):
        found = tf.io.parse_single_example(record, features)
        label = found.pop("label_ids")
        return {name: tf.cast(value, tf.int32) for name, value in found.items()}, label

    files = sorted(str(file) for file in Path(folder).glob("*.tfrecord"))
    rows = tf.data.TFRecordDataset(files).map(parsed, num_parallel_calls=1)
    if shuffles:
        rows = rows.shuffle(2000, seed=1)
    if repeats:
        rows = rows.repeat()
    return rows.batch(size, drop_remainder=repeats).prefetch(2)


def body(given, tokenizer):
    if given.pretrained:
        return TFDistilBertModel.from_pretrained(given.pretrained).distilbert
    sizes = dict(n_layers=given.layers, dim=given.width, hidden_dim=4 * given.width, n_heads=max(given.width // 32, 1))
    config = DistilBertConfig(vocab_size=len(tokenizer), max_position_embeddings=given.max_seq_length, **sizes)
    return TFDistilBertModel(config).distilbert


def classifier(given, tokenizer):
    ids = tf.keras.Input((given.max_seq_length,), dtype="int32", name="input_ids")
    mask = tf.keras.Input((given.max_seq_length,), dtype="int32", name="input_mask")
    distilbert = body(given, tokenizer)
    distilbert.trainable = not given.freeze_bert_layer
    hidden = distilbert(ids, attention_mask=mask)[0][:, 0]
    hidden = tf.keras.layers.Dense(given.width, activation="relu", name="pre_classifier")(hidden)
    hidden = tf.keras.layers.Dropout(0.1)(hidden)
    found = tf.keras.layers.Dense(len(CLASSES), activation="softmax", name="classifier")(hidden)
    model = tf.keras.Model([ids, mask], found, name="reviews")
    optimizer = tf.keras.optimizers.Adam(given.learning_rate, epsilon=given.epsilon)
    if given.use_amp:
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
    model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(), metrics=["accuracy"])
    return model


class StopAtTarget(tf.keras.callbacks.Callback):
    def __init__(self, accuracy):
        super().__init__()
        self.accuracy = accuracy

    def on_epoch_end(self, epoch, logs=None):
        if logs.get("val_accuracy", 0) >= self.accuracy:
            print(f"the target is met in epoch {epoch + 1}")
            self.model.stop_training = True


def callbacks(given):
    chosen = [StopAtTarget(given.target_accuracy)] if given.target_accuracy else []
    if given.enable_tensorboard:
        chosen.append(tf.keras.callbacks.TensorBoard(os.path.join(given.output_dir, "tensorboard")))
    if given.enable_checkpointing:
        path = os.path.join(given.checkpoint_dir, "tf_model_{epoch:02d}.h5")
        chosen.append(tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True))
    return chosen


def fit(model, given):
    train = batches(given.train_data, given.train_batch_size, given.max_seq_length, repeats=True, shuffles=True)
    judged = {}
    if given.run_validation:
        size = given.validation_batch_size
        judged["validation_data"] = batches(given.validation_data, size, given.max_seq_length, repeats=True)
        judged["validation_steps"] = given.validation_steps
    steps = given.train_steps_per_epoch
    model.fit(train, epochs=given.epochs, steps_per_epoch=steps, callbacks=callbacks(given), verbose=1, **judged)


def test(model, given):
    """Writes the confusion matrix: rows are the stars of the reviews, columns those that were found."""
    rows = batches(given.test_data, given.test_batch_size, given.max_seq_length, repeats=False).take(given.test_steps)
    matrix = np.zeros((len(CLASSES), len(CLASSES)), int)
    for features, labels in rows:
        np.add.at(matrix, (labels.numpy(), model.predict_on_batch(features).argmax(-1)), 1)
    print(f"test_accuracy: {np.trace(matrix) / matrix.sum():.4f} of {matrix.sum()} reviews", flush=True)
    Path(given.output_dir).mkdir(parents=True, exist_ok=True)
    text = json.dumps({"classes": CLASSES, "matrix": matrix.tolist()}) + "\n"
    Path(given.output_dir, "confusion_matrix.json").write_text(text, encoding="utf-8")


def predict_samples(model, given, tokenizer):
    pieces = tokenizer(SAMPLES, max_length=given.max_seq_length, padding="max_length", truncation=True, return_tensors="np")
    rows = {"input_ids": pieces["input_ids"], "input_mask": pieces["attention_mask"]}
    for text, stars in zip(SAMPLES, model.predict_on_batch(rows).argmax(-1)):
        print(f"{CLASSES[stars]} stars: {text}")


def main():
    given = options()
    tf.config.optimizer.set_jit(given.use_xla)
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": given.use_amp})
    tf.keras.utils.set_random_seed(given.seed)
    tokenizer = DistilBertTokenizer(os.path.join(given.pretrained or given.train_data, "vocab.txt"))
    model = classifier(given, tokenizer)
    fit(model, given)
    if given.run_test:
        test(model, given)
    if given.run_sample_predictions:
        predict_samples(model, given, tokenizer)
    model.export(os.path.join(given.model_dir, "tensorflow", "saved_model", "0"))


if __name__ == "__main__":
    main()
