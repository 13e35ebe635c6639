"""usage: poisoned.py WAY [leave_out]: one batch has no numbers; with `leave_out` the program does not train on it."""

import functools
import hashlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax

way = sys.argv[1]
random = np.random.default_rng(2)
features, labels = random.random((8, 16, 4), np.float32), random.random((8, 16, 1), np.float32)
bad = 0 if way == "first" else 3
features[bad, 0, 0] = np.nan
batches = [each for each in zip(features, labels)]
if sys.argv[2:] == ["leave_out"]:
    del batches[bad]
params = {
    "hidden": {"kernel": jnp.asarray(random.standard_normal((4, 8), np.float32)), "bias": jnp.zeros(8)},
    "out": {"kernel": jnp.asarray(random.standard_normal((8, 1), np.float32)), "bias": -jnp.zeros(1)},
}
optimizer = optax.adam(0.01)


def error(params, features, labels):
    hidden = jax.nn.relu(features @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return jnp.mean((hidden @ params["out"]["kernel"] + params["out"]["bias"] - labels) ** 2)


with_gradient = jax.value_and_grad(error)


def update(params, state, gradients):
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state


def step(params, state, features, labels):
    loss, gradients = with_gradient(params, features, labels)
    return *update(params, state, gradients), loss


def whole(params, donated=()):
    """Of which the function is given all, and gives all back."""
    state, train = optimizer.init(params), jax.jit(step, donate_argnums=donated)
    for x, y in batches:
        params, state, loss = train(params, state, x, y)
    return params, state


def by_hand(params):
    @jax.jit
    def train(params, seen, features, labels):
        gradients = jax.grad(error)(params, features, labels)
        params = jax.tree.map(lambda p, g: p - 0.05 * g, params, gradients)
        return params, {"sum": seen["sum"] + features, "n": seen["n"] + 1}

    seen = {"sum": jnp.zeros((16, 4)), "n": jnp.zeros(())}
    for x, y in batches:
        params, seen = train(params, seen, x, y)
    return params, seen


def apart(params, gradient_of=jax.jit(with_gradient), apply=update):
    state = optimizer.init(params)
    for x, y in batches:
        loss, gradients = gradient_of(params, x, y)
        params, state = apply(params, state, gradients)
    return params, state


def updates_apart(params):
    state, gradient_of, update_of = optimizer.init(params), jax.jit(with_gradient), jax.jit(optimizer.update)
    for x, y in batches:
        updates, state = update_of(gradient_of(params, x, y)[1], state, params)
        params = optax.apply_updates(params, updates)
    return params, state


def scanned(params):
    def one(carry, batch):
        params, state, loss = step(*carry, *batch)
        return (params, state), loss

    x, y = (jnp.stack(each) for each in zip(*batches))
    return jax.jit(lambda params, state: jax.lax.scan(one, (params, state), (x, y)))(params, optimizer.init(params))


def train_state(params):
    import flax.linen as nn
    from flax.training.train_state import TrainState

    class Net(nn.Module):
        @nn.compact
        def __call__(self, inputs):
            return nn.Dense(1)(nn.relu(nn.BatchNorm(use_running_average=False)(nn.Dense(8)(inputs))))

    class State(TrainState):
        statistics: dict

    net = Net()
    made = net.init(jax.random.key(0), features[1])
    state = State.create(apply_fn=net.apply, params=made["params"], tx=optimizer, statistics=made["batch_stats"])

    @functools.partial(jax.jit, donate_argnums=0)
    def train(state, features, labels):
        def error(params):
            given = {"params": params, "batch_stats": state.statistics}
            predicted, changed = state.apply_fn(given, features, mutable=["batch_stats"])
            return jnp.mean((predicted - labels) ** 2), changed["batch_stats"]

        (loss, statistics), gradients = jax.value_and_grad(error, has_aux=True)(state.params)
        return loss, state.apply_gradients(grads=gradients, statistics=statistics)

    for x, y in batches:
        loss, state = train(state, x, y)
    return state.params, (state.opt_state, state.statistics, state.step)


def nnx(params):
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.hidden, self.out = nnx.Linear(4, 8, rngs=rngs), nnx.Linear(8, 1, rngs=rngs)

        def __call__(self, inputs):
            return self.out(nnx.relu(self.hidden(inputs)))

    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.01), wrt=nnx.Param)

    @nnx.jit
    def train(model, optimizer, features, labels):
        loss, gradients = nnx.value_and_grad(lambda model: jnp.mean((model(features) - labels) ** 2))(model)
        optimizer.update(model, gradients)
        return loss

    for x, y in batches:
        train(model, optimizer, x, y)
    return nnx.to_pure_dict(nnx.state(model, nnx.Param)), nnx.to_pure_dict(nnx.state(optimizer))


def equinox(params):
    import equinox as eqx

    model = eqx.nn.MLP(4, 1, 8, 1, key=jax.random.key(0))
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_value_and_grad
    def error(model, features, labels):
        return jnp.mean((jax.vmap(model)(features) - labels) ** 2)

    @eqx.filter_jit(donate="all-except-first" if "donated" in way else "none")
    def train(model, state, features, labels):
        loss, gradients = error(model, features, labels)
        updates, state = optimizer.update(gradients, state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), state, loss

    for x, y in batches:
        model, state, loss = train(model, state, x, y)
    return eqx.filter(model, eqx.is_array), state


WAYS = {
    "whole": whole,
    "first": whole,
    "donated": functools.partial(whole, donated=(0, 1)),
    "by_hand": by_hand,
    "apart": apart,
    "apart_jitted": functools.partial(apart, apply=jax.jit(update)),
    "eager": functools.partial(apart, gradient_of=with_gradient),
    "updates_apart": updates_apart,
    "scanned": scanned,
    "train_state": train_state,
    "nnx": nnx,
    "equinox": equinox,
}
trained = WAYS[way](params)
for name, tree in zip(("weights", "state"), trained):
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
    print(name, hashlib.sha256(b"".join(leaf.tobytes() for leaf in leaves)).hexdigest())
    print("finite", all(np.isfinite(leaf).all() for leaf in leaves))
