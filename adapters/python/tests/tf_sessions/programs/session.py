"""A loop over sessions of TensorFlow 1, of a graph and in a way that the command line names."""

import hashlib
import os
import sys
import tempfile

import graphs
import numpy as np
import tensorflow.compat.v1 as tf

made, ways = sys.argv[1], sys.argv[2:]
tf.logging.set_verbosity(tf.logging.ERROR)
if "old" in ways:
    tf.disable_v2_behavior()
tf.disable_eager_execution()
tf.set_random_seed(1)
loss, train, gradients = getattr(graphs, made)()
gradients = {variable.op.name: getattr(gradient, "values", gradient) for gradient, variable in gradients}
weights = {variable.op.name: variable for variable in tf.trainable_variables()}
saver = tf.train.Saver()
seen = {}


def see(step, values):
    seen.update({f"{name} {step}": value for name, value in values.items()})


def run(session):
    for step in range(len(graphs.batches)):
        see(step, session.run(weights))
        what = {"train": train, "loss": loss, "of": gradients}
        results = session.run(what, graphs.fed(step))
        see(step, {f"gradient/{name}": value for name, value in results["of"].items()})
        see(step, {"loss": results["loss"]})
        print("loss", repr(float(results["loss"])))
        if step % 3 == 2:
            print("evaluated", repr(float(session.run(loss, graphs.fed(0)))))
            with tempfile.TemporaryDirectory() as folder:
                saver.restore(session, saver.save(session, f"{folder}/weights"))


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    count = len(session.graph.get_operations())
    run(session)
    print("operations", len(session.graph.get_operations()) - count)
    for name, value in session.run(weights).items():
        print(name, hashlib.sha256(value.tobytes()).hexdigest())
if "SEEN_FILE" in os.environ:
    np.savez(os.environ["SEEN_FILE"], **{name.replace("/", "|"): value for name, value in seen.items()})
