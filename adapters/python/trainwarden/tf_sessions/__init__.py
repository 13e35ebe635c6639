"""TensorFlow's sessions: what graphs of TensorFlow 1 train in this process becomes a run, with tf.compat.v1.Session,
MonitoredSession and tf.estimator.

`trainwarden run -- python train.py` does all of it for a program as it is. In a process that runs already, a notebook:

    import trainwarden.tf_sessions as tws

    tws.attach()            # before the graph is built
    ...                     # session.run(train_op), estimator.train(...)
    tws.detach()
"""

from .attach import attach, detach

__all__ = ["attach", "detach"]
