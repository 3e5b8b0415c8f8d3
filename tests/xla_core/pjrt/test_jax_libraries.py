"""Libraries on JAX train on a platform of ours, as their own examples do: no line says where."""

from __future__ import annotations

import importlib.util

import pytest

from tests.xla_core.pjrt.jax_process import run_jax

pytest.importorskip("jax", reason="JAX is not installed")

FLAX = """
import flax.linen as nn, optax

class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(8, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1)
        return nn.Dense(4)(nn.LayerNorm()(x))

def train():
    model, tx = Classifier(), optax.adamw(1e-2)
    x = jax.random.normal(jax.random.key(1), (16, 8, 8, 1))
    labels = jnp.arange(16) % 4
    params = model.init(jax.random.key(0), x)
    state = tx.init(params)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, state):
        def loss(params):
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(params, x), labels).mean()
        value, gradient = jax.value_and_grad(loss)(params)
        updates, state = tx.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    losses = []
    for _ in range(20):
        params, state, value = step(params, state)
        losses.append(float(value))
    return losses
"""

EQUINOX = """
import equinox as eqx, optax

def train():
    cell_key, key = jax.random.split(jax.random.key(0))
    model = (eqx.nn.GRUCell(2, 8, key=cell_key), eqx.nn.Linear(8, 1, key=key))
    xs = jax.random.normal(jax.random.key(1), (32, 10, 2))
    ys = xs.sum((1, 2)) > 0
    tx = optax.adam(1e-2)
    state = tx.init(eqx.filter(model, eqx.is_array))

    def predict(model, x):
        cell, head = model
        x = eqx.error_if(x, jnp.any(jnp.isnan(x)), "not a number")
        h, _ = jax.lax.scan(lambda h, v: (cell(v, h), None), jnp.zeros(8), x)
        return head(h)[0]

    @eqx.filter_jit
    def step(model, state):
        def loss(model):
            return optax.sigmoid_binary_cross_entropy(jax.vmap(lambda x: predict(model, x))(xs), ys).mean()
        value, gradient = eqx.filter_value_and_grad(loss)(model)
        updates, state = tx.update(gradient, state)
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for _ in range(20):
        model, state, value = step(model, state)
        losses.append(float(value))
    return losses
"""

KERAS = """
import keras

def train():
    keras.utils.set_random_seed(0)
    random = np.random.default_rng(0)
    x = random.normal(size=(64, 12, 3)).astype("f")
    y = x.sum((1, 2))[:, None]
    model = keras.Sequential([
        keras.layers.Conv1D(8, 3, activation="relu"), keras.layers.LSTM(8), keras.layers.Dropout(0.1), keras.layers.Dense(1)
    ])
    model.compile("adam", "mse")
    return model.fit(x, y, epochs=4, batch_size=16, verbose=0).history["loss"]
"""

NUMPYRO = """
import numpyro, numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoMultivariateNormal

def train():
    x = jax.random.normal(jax.random.key(1), (50, 3))
    y = (x[:, 0] > 0).astype(jnp.int32)

    def model():
        weights = numpyro.sample("weights", dist.Normal(jnp.zeros(3), 1).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights), obs=y)

    svi = SVI(model, AutoMultivariateNormal(model), numpyro.optim.Adam(0.05), Trace_ELBO(num_particles=4))
    return svi.run(jax.random.key(0), 60, progress_bar=False).losses
"""

COMPARE = """
assert jnp.zeros(1).devices() == {jax.devices("xla_cpu")[0]}
losses = np.array(train())
assert losses[-3:].mean() < losses[:3].mean(), losses
with jax.default_device(jax.devices("cpu")[0]):
    np.testing.assert_allclose(losses, train(), rtol=1e-3)
"""


@pytest.mark.parametrize(
    ("libraries", "program"),
    [("flax optax", FLAX), ("equinox optax", EQUINOX), ("keras", KERAS), ("numpyro", NUMPYRO)],
    ids=["flax", "equinox", "keras", "numpyro"],
)
def test_a_model_trains(libraries: str, program: str) -> None:
    for library in libraries.split():
        if importlib.util.find_spec(library) is None:  # importing Keras here would need TensorFlow
            pytest.skip(f"{library} is not installed")
    run_jax("import functools\n" + program + COMPARE, KERAS_BACKEND="jax")
