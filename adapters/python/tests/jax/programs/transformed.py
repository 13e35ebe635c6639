"""Trainings whose updates lie where no or not every value comes out: what is computed is the same all the same."""

import os
import sys

os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={4 if sys.argv[1] == 'cut_twice' else 2}"

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

warnings.simplefilter("ignore")
STEPS = 4
random = np.random.default_rng(3)
batches = [(random.random((8, 4), np.float32), random.random((8, 1), np.float32)) for _ in range(STEPS)]
params = {"kernel": jnp.asarray(random.standard_normal((4, 1), np.float32)), "bias": jnp.zeros(1)}
optimizer = optax.sgd(0.1)
losses = []


def error(params, features, labels):
    return jnp.mean((features @ params["kernel"] + params["bias"] - labels) ** 2)


def update(params, state, features, labels, axis=None, optimizer=optimizer):
    loss, gradients = jax.value_and_grad(error)(params, features, labels)
    if axis is not None:
        loss, gradients = jax.lax.pmean((loss, gradients), axis)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


def loop(step, params, state):
    for features, labels in batches:
        params, state, loss = step(params, state, features, labels)
        losses.append(float(jnp.ravel(loss)[0]))
    return params


def sharded(params):
    """The batch is cut over two devices, the weights are on both."""
    mesh = Mesh(np.array(jax.devices()), ("data",))
    params = jax.device_put(params, NamedSharding(mesh, P()))
    cut = NamedSharding(mesh, P("data"))
    step = jax.jit(update, out_shardings=(NamedSharding(mesh, P()), None, None))
    return loop(lambda p, s, *batch: step(p, s, *jax.device_put(batch, cut)), params, optimizer.init(params))


def cut_weights(params):
    """The weights are cut over two devices."""
    mesh = Mesh(np.array(jax.devices()), ("model",))
    layout = {"kernel": NamedSharding(mesh, P("model")), "bias": NamedSharding(mesh, P())}
    return loop(jax.jit(update), jax.device_put(params, layout), optimizer.init(params))


def cut_twice(params):
    """The weights are cut over two of four devices, and the other two have the same parts."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
    layout = {"kernel": NamedSharding(mesh, P("model")), "bias": NamedSharding(mesh, P())}
    cut = NamedSharding(mesh, P("data"))
    step = jax.jit(update)
    params = jax.device_put(params, layout)
    return loop(lambda p, s, *batch: step(p, s, *jax.device_put(batch, cut)), params, optimizer.init(params))


def shard_map(params):
    mesh = Mesh(np.array(jax.devices()), ("data",))

    def step(params, state, features, labels):
        return update(params, state, features, labels, "data")

    cut = jax.shard_map(step, mesh=mesh, in_specs=(P(), P(), P("data"), P("data")), out_specs=P())
    return loop(jax.jit(cut), params, optimizer.init(params))


def pmap(params):
    both = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), (params, optimizer.init(params)))
    step = jax.pmap(lambda *given: update(*given, "data"), axis_name="data")
    halves = [tuple(each.reshape(2, 4, -1) for each in batch) for batch in batches]
    batches[:] = halves
    return loop(step, *both)


def cond(params):
    """Every second step is left out, within the function."""

    @jax.jit
    def step(params, state, features, labels):
        number, state = state
        found = jax.lax.cond(
            number % 2 == 0, update, lambda params, state, *batch: (params, state, error(params, *batch)),
            params, state, features, labels,
        )  # fmt: skip
        return found[0], (number + 1, found[1]), found[2]

    return loop(step, params, (0, optimizer.init(params)))


def while_loop(params):
    @jax.jit
    def step(params, state, features, labels):
        def body(carry):
            number, params, state, _ = carry
            return (number + 1, *update(params, state, features, labels))

        _, params, state, loss = jax.lax.while_loop(lambda carry: carry[0] < 3, body, (0, params, state, 0.0))
        return params, state, loss

    return loop(step, params, optimizer.init(params))


def multi_steps(params):
    slow = optax.MultiSteps(optimizer, every_k_schedule=2)

    @jax.jit
    def step(params, state, features, labels):
        loss, gradients = jax.value_and_grad(error)(params, features, labels)
        updates, state = slow.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    return loop(step, params, slow.init(params))


def two_models(params):
    """As those that play against each other: two optimizers in one step, whose parameters are called the same."""
    other = optax.sgd(0.2)

    @jax.jit
    def step(both, state, features, labels):
        one, two = both
        one, _, loss = update(one, state[0], features, labels)
        two, _, _ = update(two, state[1], features, labels, None, other)
        return (one, two), state, loss

    return loop(step, (params, jax.tree.map(lambda leaf: leaf * 2, params)), (optimizer.init(params), other.init(params)))


def accumulated(params):
    """Two gradients for each update, all in functions of their own."""
    gradients_of = jax.jit(jax.value_and_grad(error))
    apply = jax.jit(lambda params, state, gradients: apply_to(params, *optimizer.update(gradients, state, params)))

    def apply_to(params, updates, state):
        return optax.apply_updates(params, updates), state

    def step(params, state, features, labels):
        loss, one = gradients_of(params, features[:4], labels[:4])
        _, two = gradients_of(params, features[4:], labels[4:])
        params, state = apply(params, state, jax.tree.map(jnp.add, one, two))
        return params, state, loss

    return loop(step, params, optimizer.init(params))


def keys_and_halves(params):
    """Keys of random generators in the state, and weights in bfloat16."""
    params = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)

    @jax.jit
    def step(params, state, features, labels):
        key, state = state
        params, state, loss = update(params, state, features + jax.random.normal(key, features.shape), labels)
        return params, (jax.random.split(key)[0], state), loss

    return loop(step, params, (jax.random.key(1), optimizer.init(params)))


def eighths(params):
    """Weights of a type that only JAX has."""
    small = {"kernel": params["kernel"].astype(jnp.float8_e4m3b11fnuz), "bias": params["bias"]}

    def small_error(params, features, labels):
        return error({**params, "kernel": params["kernel"].astype(jnp.float32)}, features, labels)

    @jax.jit
    def step(params, state, features, labels):
        loss, gradients = jax.value_and_grad(small_error)(params, features, labels)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    return loop(step, small, optimizer.init(small))


if __name__ == "__main__":
    params = globals()[sys.argv[1]](params)
    print(losses, b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(params)).hex())
