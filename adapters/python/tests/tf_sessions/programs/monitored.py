"""A loop that never asks whether it should stop, and says what TensorFlow is told to fetch."""

import sys

import graphs
import tensorflow.compat.v1 as tf
from tensorflow.python.client.session import BaseSession

folder, steps = sys.argv[1], int(sys.argv[2])
tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_eager_execution()
tf.set_random_seed(1)
runs, call = [], BaseSession._call_tf_sessionrun


def counted(self, options, feed_dict, fetch_list, target_list, run_metadata):
    runs.append(len(fetch_list))
    return call(self, options, feed_dict, fetch_list, target_list, run_metadata)


BaseSession._call_tf_sessionrun = counted
loss, train, _ = graphs.classic()
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
    for step in range(steps):
        print("loss", repr(float(session.run([loss, train], graphs.fed(step % 6))[0])), flush=True)
        if "stop" in sys.argv and step == 2:
            import trainwarden

            trainwarden.stop(sys.argv[-1], wait=False)
print("fetched", runs)
