"""jit, automatic differentiation, vmap, checkpointing, custom derivative rules, pytrees, donation."""

from __future__ import annotations

import functools

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from tests.frontends.jax_programs.table import c64, f32, i32, kind, program


def selu(x, alpha=1.67, scale=1.05):
    return scale * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def loss(w, b, x, y):
    p = jax.nn.sigmoid(x @ w + b)
    return -jnp.mean(jnp.log(jnp.where(y, p, 1 - p)))


@functools.partial(jax.jit, static_argnames="n")
def power_of(x, n):
    return x**n


@jax.jit
def inner(x):
    return jnp.sin(x) * 2


kind(
    "jit",
    program("selu", selu, f32(1000, low=-5, high=5)),
    program("static arguments", lambda x: power_of(x, 3) + power_of(x, 5), f32(17)),
    program("jit in jit", lambda x: inner(inner(x)) + inner(x.T).T, f32(4, 4)),
    program("closed-over constants", lambda x: x @ np.arange(12, dtype=np.float32).reshape(3, 4), f32(2, 3)),
    program("no arguments", lambda: (jnp.arange(5.0), jnp.ones((2, 2), jnp.int8))),
    program("unused and returned arguments", lambda x, y: (x, x), f32(3), i32(2)),
    program("out of order results", lambda x, y: {"b": y, "a": (x + 1, None)}, f32(3), i32(2)),
)

kind(
    "grad",
    program("grad", jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)), f32(9)),
    program(
        "value_and_grad of two arguments", jax.value_and_grad(loss, (0, 1)), f32(4), f32(), f32(8, 4), i32(8, high=2)
    ),
    program("grad of grad", jax.vmap(jax.grad(jax.grad(jax.grad(jnp.tanh)))), f32(9), roundings=32),
    program("grad with aux", jax.grad(lambda x: (jnp.prod(x), x * 2), has_aux=True), f32(5)),
    program("stop_gradient", jax.grad(lambda x: jnp.sum(x * lax.stop_gradient(jnp.exp(x)))), f32(5)),
    program("grad through where", jax.grad(lambda x: jnp.sum(jnp.where(x > 0, jnp.sqrt(jnp.abs(x) + 1), x))), f32(8)),
    program("holomorphic grad", jax.vmap(jax.grad(lambda z: jnp.sin(z) * z, holomorphic=True)), c64(5)),
    program("integer input gets float0", lambda x, i: jax.grad(lambda x: x[i].sum())(x), f32(6), i32(2, high=6)),
)

kind(
    "jvp and vjp",
    program("jvp", lambda x, t: jax.jvp(jnp.sin, (x,), (t,)), f32(7), f32(7)),
    program("vjp", lambda x, t: jax.vjp(lambda x: x @ x.T, x)[1](t), f32(3, 4), f32(3, 3)),
    program("linearize", lambda x, t: jax.linearize(lambda x: jnp.exp(x) * x, x)[1](t), f32(7), f32(7)),
    program("linear_transpose", lambda t: jax.linear_transpose(lambda x: jnp.cumsum(x) * 2, jnp.ones(5))(t), f32(5)),
    program("jvp of vjp", lambda x, t: jax.jvp(jax.grad(rosenbrock), (x,), (t,)), f32(6), f32(6), roundings=32),
)

kind(
    "jacobians and hessians",
    program("jacfwd", jax.jacfwd(lambda x: jnp.stack([x[0], 5 * x[2], 4 * x[1] ** 2 - 2 * x[2]])), f32(3)),
    program("jacrev", jax.jacrev(lambda x: jnp.sin(x)[:, None] * x[None, :]), f32(4)),
    program("hessian", jax.hessian(rosenbrock), f32(5), roundings=16),
    program("hessian of a dictionary", jax.hessian(lambda p: jnp.sum(p**3) + p[0] * p[1]), f32(3)),
    program("jacobian of a solver", jax.jacfwd(lambda b: jnp.linalg.solve(jnp.eye(3) * 3 + 0.1, b)), f32(3)),
)

kind(
    "vmap",
    program("dot over a batch", jax.vmap(jnp.dot), f32(8, 5), f32(8, 5)),
    program("in_axes and out_axes", jax.vmap(lambda a, b: a @ b, (1, None), 1), f32(4, 8, 5), f32(5, 3)),
    program("nested", jax.vmap(jax.vmap(jnp.add, (0, None)), (None, 0)), f32(4), f32(3)),
    program("per-example gradients", jax.vmap(jax.grad(lambda w, x: jnp.tanh(w @ x)), (None, 0)), f32(4), f32(6, 4)),
    program("of a cond", jax.vmap(lambda p, x: lax.cond(p > 0, jnp.sin, jnp.cos, x)), f32(6), f32(6)),
    program(
        "of a while", jax.vmap(lambda x: lax.while_loop(lambda v: v < 10, lambda v: v * 2, x)), f32(6, low=1, high=9)
    ),
    program("axis_name and psum", jax.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i"), f32(6, low=1, high=2)),
    program(
        "all_gather and ppermute",
        jax.vmap(lambda x: (lax.all_gather(x, "i"), lax.ppermute(x, "i", [(0, 1), (1, 0)])), axis_name="i"),
        f32(2, 3),
    ),
    program("vmap of a convolution", jax.vmap(lambda x, k: jnp.convolve(x, k, mode="same")), f32(3, 9), f32(3, 4)),
    program("vectorize", jnp.vectorize(jnp.dot, signature="(n),(n)->()"), f32(2, 3, 4), f32(3, 4)),
)


def policy_block(x, w):
    y = checkpoint_name(jnp.sin(x @ w), "sine")
    return jnp.sum(jnp.cos(y) @ w)


kind(
    "checkpoint and remat",
    program("checkpoint", jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.sin(jnp.sin(x)))))), f32(9)),
    program(
        "policy by name",
        jax.grad(jax.checkpoint(policy_block, policy=jax.checkpoint_policies.save_only_these_names("sine"))),
        f32(4, 4),
        f32(4, 4),
        roundings=32,
    ),
    program(
        "scan of remat",
        jax.grad(lambda x, w: lax.scan(jax.remat(lambda c, w: (jnp.tanh(c @ w), None)), x, w)[0].sum()),
        f32(2, 4),
        f32(3, 4, 4),
        roundings=32,
    ),
    program(
        "dots_saveable",
        jax.grad(jax.checkpoint(policy_block, policy=jax.checkpoint_policies.dots_saveable)),
        f32(4, 4),
        f32(4, 4),
        roundings=32,
    ),
)


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def _log1pexp_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t


@jax.custom_vjp
def clip_gradient(lo, hi, x):
    return x


clip_gradient.defvjp(lambda lo, hi, x: (x, (lo, hi)), lambda res, g: (None, None, jnp.clip(g, *res)))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def fixed_point(f, a, x):
    return lax.while_loop(lambda c: jnp.abs(c[0] - c[1]) > 1e-6, lambda c: (c[1], f(a, c[1])), (x, f(a, x)))[1]


def _fixed_point_back(f, res, v):
    a, x = res
    _, vjp_a = jax.vjp(lambda a: f(a, x), a)
    w = fixed_point(lambda v_, u: v_ + jax.vjp(lambda x: f(a, x), x)[1](u)[0], v, jnp.zeros_like(v))
    return *vjp_a(w), jnp.zeros_like(x)


fixed_point.defvjp(lambda f, a, x: (lambda r: (r, (a, r)))(fixed_point(f, a, x)), _fixed_point_back)

kind(
    "custom_jvp and custom_vjp",
    program("log1pexp", jax.vmap(jax.grad(log1pexp)), f32(9, low=-90, high=90)),
    program(
        "gradient clipping",
        jax.vmap(jax.grad(lambda x: clip_gradient(-0.75, 0.75, jnp.sin(x)))),
        f32(9, low=-4, high=4),
    ),
    program(
        "fixed point",
        jax.value_and_grad(lambda a: fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)),
        f32(low=2, high=3),
        roundings=64,
    ),
    program("custom_gradient", jax.grad(jax.custom_gradient(lambda x: (x**2, lambda g: (3 * g * x,)))), f32()),
    program("forward with custom_vjp", lambda x: clip_gradient(-1.0, 1.0, x) * 2, f32(5)),
    program(
        "custom_linear_solve",
        lambda a, b: lax.custom_linear_solve(
            functools.partial(jnp.matmul, a + 4 * jnp.eye(3)),
            b,
            lambda mv, b: jnp.linalg.solve(a + 4 * jnp.eye(3), b),
            lambda vm, b: jnp.linalg.solve((a + 4 * jnp.eye(3)).T, b),
        ),
        f32(3, 3),
        f32(3),
        roundings=32,
    ),
    program(
        "custom_root",
        jax.grad(
            lambda a: lax.custom_root(
                lambda x: x**3 - a,
                jnp.float32(1.0),
                lambda f, x: lax.fori_loop(0, 30, lambda i, x: x - f(x) / jax.grad(f)(x), x),
                lambda g, y: y / g(jnp.float32(1.0)),
            )
        ),
        f32(low=2, high=3),
        roundings=32,
    ),
)

kind(
    "pytrees and donation",
    program(
        "a tree in and out",
        lambda a, b, c: jax.tree.map(lambda x: x * 2, {"x": [a, (b, c)], "y": {"z": a + 1}}),
        f32(2),
        i32(3),
        f32(),
    ),
    program("ravel_pytree", lambda a, b: jax.flatten_util.ravel_pytree({"a": a, "b": b})[0], f32(2, 3), f32(4)),
    program("donated update", lambda p, g: (p - 0.1 * g, jnp.sum(g)), f32(64), f32(64), donate=(0,), roundings=64),
    program("donated swap", lambda a, b: (b, a), f32(8), f32(8), donate=(0, 1)),
    program(
        "tree_map of gradients",
        lambda w, b: jax.tree.map(
            lambda p, g: p - 0.1 * g, (w, b), jax.grad(lambda p: jnp.sum(jnp.tanh(p[0] @ p[1])))((w, b))
        ),
        f32(3, 4),
        f32(4),
    ),
)
