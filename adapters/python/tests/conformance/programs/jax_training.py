import acting
import jax
import jax.numpy as jnp
import numpy as np
import optax

given = acting.arguments()
random = np.random.default_rng(1)
features, labels = random.random((32, 4), np.float32), random.random((32, 1), np.float32)
params = {
    "hidden": {"kernel": jnp.asarray(random.standard_normal((4, 8), np.float32)), "bias": jnp.zeros(8)},
    "out": {"kernel": jnp.asarray(random.standard_normal((8, 1), np.float32)), "bias": jnp.zeros(1)},
}
optimizer = optax.adam(0.01)
state = optimizer.init(params)


def mean_squared_error(params, features, labels):
    hidden = jax.nn.relu(features @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return jnp.mean((hidden @ params["out"]["kernel"] + params["out"]["bias"] - labels) ** 2)


@jax.jit
def train(params, state, features, labels):
    loss, gradients = jax.value_and_grad(mean_squared_error)(params, features, labels)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


for step, features, labels in acting.batches(given, features, labels):
    params, state, loss = train(params, state, features, labels)
    acting.step_ended(given, step, loss)
acting.finish(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(params)))
