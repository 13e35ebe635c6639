"""Two optimizers take turns, as in a GAN. Nobody asks for the loss of the second."""

import graphs
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
x, y = graphs.placeholders()
first = tf.layers.dense(x, 4, name="first", kernel_initializer=graphs.kernel(8, 4))
last = tf.layers.dense(first, 1, name="last", kernel_initializer=graphs.kernel(4, 1))
loss = tf.reduce_mean(tf.square(last - y), name="loss")
other = tf.reduce_mean(tf.abs(last - y), name="other")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("first"))
train_other = tf.train.AdamOptimizer(0.1).minimize(other, var_list=tf.trainable_variables("last"))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(len(graphs.batches)):
        print("loss", session.run([loss, train], graphs.fed(step))[0])
        session.run(train_other, graphs.fed(step))
