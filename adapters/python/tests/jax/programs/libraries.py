"""Trains with flax.linen, flax.nnx or equinox, or with gradients that optax sums up, as the first argument says."""

import hashlib
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 5
random = np.random.default_rng(2)
features, labels = random.random((16, 4), np.float32), random.random((16, 1), np.float32)
losses, seen = [], {}


def linen():
    """With TrainState, dropout, and a validation behind each step."""
    import flax.linen as nn
    from flax.training.train_state import TrainState

    class Block(nn.Module):
        @nn.compact
        def __call__(self, inputs, trains):
            hidden = nn.relu(nn.Dense(8)(inputs))
            return nn.Dropout(0.5, deterministic=not trains)(hidden)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, inputs, trains):
            return nn.Dense(1)(nn.remat(Block, static_argnums=(2,))(name="block")(inputs, trains))

    net = Net()
    params = jax.jit(lambda key: net.init(key, features, False))(jax.random.key(0))["params"]
    state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1, momentum=0.9))

    @jax.jit
    def train(state, features, labels, key):
        def error(params):
            predicted = state.apply_fn({"params": params}, features, True, rngs={"dropout": key})
            return jnp.mean((predicted - labels) ** 2)

        loss, gradients = jax.value_and_grad(error)(state.params)
        return state.apply_gradients(grads=gradients), loss

    @jax.jit
    def judge(params, features, labels):
        return jnp.mean((net.apply({"params": params}, features, False) - labels) ** 2)

    for step in range(STEPS):
        state, loss = train(state, features, labels, jax.random.key(step))
        losses.append(float(loss))
        print("judged", float(judge(state.params, features, labels)))
    predicted = jax.jit(lambda params: net.apply({"params": params}, features, False))(state.params)
    seen["block_bias"] = np.asarray(state.params["block"]["Dense_0"]["bias"])
    seen["output"] = np.asarray(predicted)
    return state.params


def nnx():
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.hidden = nnx.Linear(4, 8, rngs=rngs)
            self.out = nnx.Linear(8, 1, rngs=rngs)

        def __call__(self, inputs):
            return self.out(nnx.relu(self.hidden(inputs)))

    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(0.01), wrt=nnx.Param)

    @nnx.jit
    def train(model, optimizer, features, labels):
        loss, gradients = nnx.value_and_grad(lambda model: jnp.mean((model(features) - labels) ** 2))(model)
        optimizer.update(model, gradients)
        return loss

    for _ in range(STEPS):
        losses.append(float(train(model, optimizer, features, labels)))
    params = nnx.to_pure_dict(nnx.state(model, nnx.Param))
    seen["hidden_kernel"] = np.asarray(params["hidden"]["kernel"])
    return params


def equinox():
    import equinox as eqx

    model = eqx.nn.MLP(4, 1, 8, 1, key=jax.random.key(0))
    optimizer = optax.adam(0.01)
    state = optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_value_and_grad
    def error(model, features, labels):
        return jnp.mean((jax.vmap(model)(features) - labels) ** 2)

    @eqx.filter_jit
    def train(model, state, features, labels):
        loss, gradients = error(model, features, labels)
        updates, state = optimizer.update(gradients, state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), state, loss

    for _ in range(STEPS):
        model, state, loss = train(model, state, features, labels)
        losses.append(float(loss))
    seen["hidden_kernel"] = np.asarray(model.layers[0].weight)
    return eqx.filter(model, eqx.is_array)


def multi_steps():
    """Every second batch changes the weights."""
    params = {"hidden": {"kernel": jnp.ones((4, 8)) / 8, "bias": jnp.zeros(8)}}
    params["out"] = {"kernel": jnp.linspace(-1, 1, 8).reshape(8, 1), "bias": jnp.zeros(1)}
    optimizer = optax.MultiSteps(optax.adam(0.01), every_k_schedule=2)
    state = optimizer.init(params)

    def error(params, features, labels):
        hidden = jnp.tanh(features @ params["hidden"]["kernel"] + params["hidden"]["bias"])
        return jnp.mean((hidden @ params["out"]["kernel"] + params["out"]["bias"] - labels) ** 2)

    @jax.jit
    def train(params, state, features, labels):
        loss, gradients = jax.value_and_grad(error)(params, features, labels)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, {"loss": loss, "error": {"root": jnp.sqrt(loss)}}

    for step in range(STEPS):
        half = slice(8 * (step % 2), 8 * (step % 2) + 8)
        params, state, told = train(params, state, features[half], labels[half])
        losses.append(float(told["loss"]))
    seen["hidden_kernel"] = np.asarray(params["hidden"]["kernel"])
    return params


if __name__ == "__main__":
    params = globals()[sys.argv[1]]()
    for loss in losses:
        print("loss", repr(loss))
    print("weights", hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(params))).hexdigest())
    if "SEEN_FILE" in os.environ:
        np.savez(os.environ["SEEN_FILE"], losses=np.array(losses), **seen)
