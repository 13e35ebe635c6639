"""Trains a small network in the way that the first argument names, and says what it has seen of it.

What it has seen for itself goes to SEEN_FILE: losses, and the gradients and weights of the last step.
"""

import hashlib
import os
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 6
random = np.random.default_rng(1)
batches = [(random.random((16, 4), np.float32), random.random((16, 1), np.float32)) for _ in range(STEPS)]
params = {
    "hidden": {"kernel": jnp.asarray(random.standard_normal((4, 8), np.float32)), "bias": jnp.zeros(8)},
    "out": {"kernel": jnp.asarray(random.standard_normal((8, 1), np.float32)), "bias": jnp.zeros(1)},
}
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.01))
losses, seen = [], {}


def predict(params, features):
    hidden = jax.nn.relu(features @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return hidden @ params["out"]["kernel"] + params["out"]["bias"]


def error(params, features, labels):
    return jnp.mean((predict(params, features) - labels) ** 2)


def update(params, state, features, labels, loss_of=error):
    loss, gradients = jax.value_and_grad(loss_of)(params, features, labels)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


def look(gradients, weights):
    for name, tree in (("gradient/", gradients), ("", weights)):
        for layer, leaves in tree.items():
            for key, leaf in leaves.items():
                seen[f"{name}{layer}/{key}"] = np.array(leaf)


def loop(step, params, state):
    for features, labels in batches:
        gradients = gradients_of(params, features, labels)
        params, state, loss = step(params, state, features, labels)
        losses.append(float(loss))
        look(gradients, params)
    return params


# Not by jax.jit of ours: these gradients are the test's, and no step. JAX's own has no wrapper around it.
plain_grad = getattr(jax.grad, "_trainwarden_jax_original", jax.grad)
plain_jit = getattr(jax.jit, "_trainwarden_jax_original", jax.jit)
gradients_of = plain_jit(plain_grad(error))


def optax_jit(params):
    return loop(jax.jit(update), params, optimizer.init(params))


def donated(params):
    return loop(jax.jit(update, donate_argnums=(0, 1)), params, optimizer.init(params))


def decorated(params):
    @partial(jax.jit, static_argnames=("scale",), donate_argnames="state")
    def step(params, state, features, labels, *, scale):
        return update(params, state, features, labels, lambda *given: error(*given) * scale)

    return loop(partial(step, scale=1.0), params, optimizer.init(params))


def nested(params):
    inner = jax.jit(update)

    @jax.jit
    def outer(params, state, features, labels):
        params, state, loss = inner(params, state, features, labels)
        return params, state, loss

    return loop(outer, params, optimizer.init(params))


def remat(params):
    return loop(jax.jit(partial(update, loss_of=jax.checkpoint(error))), params, optimizer.init(params))


def by_hand(params):
    @jax.jit
    def step(params, features, labels):
        loss, gradients = jax.value_and_grad(error)(params, features, labels)
        return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, params, gradients), loss

    def with_state(params, state, features, labels):
        params, loss = step(params, features, labels)
        return params, state, loss

    return loop(with_state, params, None)


def by_grad(params):
    @jax.jit
    def step(params, features, labels):
        gradients = jax.grad(error)(params, features, labels)
        return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, params, gradients)

    def with_state(params, state, features, labels):
        loss = jnp.asarray(plain_jit(error)(params, features, labels))
        return step(params, features, labels), state, loss

    return loop(with_state, params, None)


def jitted_parts(params):
    """Gradients in one function, the update in another."""
    loss_and_gradients = jax.jit(jax.value_and_grad(error))

    @jax.jit
    def apply(params, state, gradients):
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    def step(params, state, features, labels):
        loss, gradients = loss_and_gradients(params, features, labels)
        params, state = apply(params, state, gradients)
        return params, state, loss

    return loop(step, params, optimizer.init(params))


def eager_update(params):
    loss_and_gradients = jax.jit(jax.value_and_grad(error))

    def step(params, state, features, labels):
        loss, gradients = loss_and_gradients(params, features, labels)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    return loop(step, params, optimizer.init(params))


def eager(params):
    return loop(update, params, optimizer.init(params))


def method(params):
    class Trainer:
        @partial(jax.jit, static_argnums=0)
        def step(self, params, state, features, labels):
            return update(params, state, features, labels)

    return loop(Trainer().step, params, optimizer.init(params))


def scan(params):
    @jax.jit
    def epoch(params, state, features, labels):
        def body(carry, batch):
            params, state, loss = update(*carry, *batch)
            return (params, state), loss

        (params, state), found = jax.lax.scan(body, (params, state), (features, labels))
        return params, state, found

    features, labels = (np.stack(each) for each in zip(*batches))
    params, _, found = epoch(params, optimizer.init(params), features, labels)
    losses.extend(np.asarray(found).tolist())
    look({}, params)
    return params


def ensemble(params):
    """Two members, trained at once."""
    params = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf * 0.5]), params)
    state = jax.vmap(optimizer.init)(params)
    step = jax.jit(jax.vmap(update, in_axes=(0, 0, None, None)))
    for features, labels in batches:
        params, state, loss = step(params, state, features, labels)
        losses.append(float(loss.sum()))
        look({}, params)
    return params


def compiled_again(params):
    """A function is given to jit anew for every step; the last batch is smaller."""
    batches[-1] = tuple(each[:7] for each in batches[-1])
    return loop(lambda *given: jax.jit(update)(*given), params, optimizer.init(params))


def static_flag(params):
    """One function trains and judges; the judging comes first."""
    state = optimizer.init(params)

    @partial(jax.jit, static_argnums=4)
    def both(params, state, features, labels, trains):
        if trains:
            return update(params, state, features, labels)
        return params, state, error(params, features, labels)

    def step(params, state, features, labels):
        both(params, state, features, labels, False)
        return both(params, state, features, labels, True)

    return loop(step, params, state)


if __name__ == "__main__":
    params = globals()[sys.argv[1]](params)
    for loss in losses:
        print("loss", repr(loss))
    weights = b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(params))
    print("weights", hashlib.sha256(weights).hexdigest())
    if "SEEN_FILE" in os.environ:
        named = {name.replace("/", "|"): value for name, value in seen.items()}
        np.savez(os.environ["SEEN_FILE"], losses=np.array(losses), **named)
