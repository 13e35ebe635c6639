"""Steps that do something besides computing: they print, call functions of the program's, or are called wrongly."""

import gc
import sys
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.experimental import io_callback

rows = jnp.asarray(np.random.RandomState(0).rand(64, 4), jnp.float32)
right = rows.sum(1)
optimizer = optax.sgd(0.1)
number = jax.ShapeDtypeStruct((), jnp.float32)


def loss_of(weights, rows, right):
    return jnp.mean((rows @ weights["w"] + weights["b"] - right) ** 2)


def trained(step, steps=9):
    """`step(weights, rows, right)` gives new ones and a number."""
    weights = {"w": jnp.zeros(4), "b": jnp.zeros(())}
    for _ in range(steps):
        weights, said = step(weights, rows, right)
    jax.effects_barrier()
    print(np.asarray(weights["w"]).tobytes().hex(), float(said))


def changed(weights, gradients, rate=0.1):
    return optax.apply_updates(weights, optimizer.update(gradients, optimizer.init(weights))[0])


def prints():
    @jax.jit
    def step(weights, rows, right):
        loss, gradients = jax.value_and_grad(loss_of)(weights, rows, right)
        jax.debug.print("loss {}", loss)

        def looked_at(total, row):
            jax.debug.callback(lambda: print("row"), ordered=True)
            return total + row.sum(), None

        total, _ = jax.lax.scan(looked_at, 0.0, rows[:2])
        return changed(weights, gradients), loss + total

    trained(step)


def calls():
    counted = [0]

    def counting(loss):
        counted[0] += 1
        print("called", counted[0])
        return np.float32(counted[0])

    @jax.jit
    def step(weights, rows, right):
        loss, gradients = jax.value_and_grad(loss_of)(weights, rows, right)
        scale = io_callback(counting, number, loss, ordered=True)
        return changed(weights, jax.tree_util.tree_map(lambda each: each / scale, gradients)), loss

    trained(step)


def asks():
    def asked(loss):
        print("asked")
        return np.asarray(loss)

    @jax.jit
    def step(weights, rows, right):
        loss, gradients = jax.value_and_grad(loss_of)(weights, rows, right)
        return changed(weights, gradients), jax.pure_callback(asked, number, loss)

    trained(step)


def called_wrongly():
    @jax.jit
    def step(weights, rows, right):
        loss, gradients = jax.value_and_grad(loss_of)(weights, rows, right)
        return changed(weights, gradients), loss

    trained(step, 2)
    for wrong in (({}, rows, right), ({"w": jnp.zeros(4), "b": jnp.zeros(())},), ("x", rows, right)):
        try:
            step(*wrong)
        except Exception as error:
            print(type(error).__name__)
    trained(step)


def lets_go():
    """Gradients that are large, of updates by hand, which nobody has any more."""
    weights = {"w": jnp.zeros((3000, 4000))}

    def large(weights):
        return jnp.mean((weights["w"] - 1) ** 2)

    for _ in range(3):
        loss, gradients = jax.value_and_grad(large)(weights)
        weights = jax.tree_util.tree_map(lambda one, other: one - other, weights, gradients)
    alive = weakref.ref(gradients["w"])
    del gradients
    gc.collect()
    print(alive() is None)


def policies():
    """jax.checkpoint saves the same where a policy saves all that has a name."""
    from flax import linen
    from jax._src.ad_checkpoint import saved_residuals

    model = linen.Sequential([linen.Dense(8), linen.relu, linen.Dense(1)])
    weights = model.init(jax.random.PRNGKey(0), rows)
    policy = jax.checkpoint_policies.save_any_names_but_these("none")
    applied = jax.checkpoint(lambda weights: model.apply(weights, rows).sum(), policy=policy)
    print([str(each[0]) for each in saved_residuals(applied, weights)])


globals()[sys.argv[1]]()
