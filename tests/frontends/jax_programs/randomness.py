"""Random numbers: keys of both kinds, every distribution, permutations and choices."""

from __future__ import annotations

import jax
import jax.extend.random
import jax.numpy as jnp
from jax import lax, random

from tests.frontends.jax_programs.table import f32, kind, program, typed, u32

ALGORITHMS = (lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_DEFAULT)
SEED = typed("uint32", low=0, high=2**31)


def drawing(draw, impl="threefry2x32"):
    """Makes a program that draws from a key made from the argument."""
    return lambda seed, *rest: draw(random.key(seed, impl=impl), *rest)


kind(
    "random keys",
    program(
        "split and fold_in",
        drawing(lambda k: [random.key_data(x) for x in (k, random.split(k, 3), random.fold_in(k, 7))]),
        SEED,
        exact=True,
    ),
    program("raw keys", lambda s: random.split(random.PRNGKey(s), (2, 2)), SEED, exact=True),
    program(
        "bits of each width",
        drawing(lambda k: [random.bits(k, (5,), t) for t in ("uint8", "uint16", "uint32")]),
        SEED,
        exact=True,
    ),
    program("64 bits", drawing(lambda k: random.bits(k, (5,), "uint64")), SEED, exact=True, x64=True),
    program(
        "odd and empty sizes",
        drawing(lambda k: [random.bits(k, s) for s in ((1,), (3,), (7, 3), (0,), ())]),
        SEED,
        exact=True,
    ),
    program(
        "rbg",
        drawing(lambda k: [random.bits(k, (n,), t) for n in (1, 5, 8) for t in ("uint8", "uint16", "uint32")], "rbg"),
        SEED,
        exact=True,
    ),
    program(
        "rbg keys",
        drawing(lambda k: [random.key_data(x) for x in (random.split(k, 3), random.fold_in(k, 9))], "rbg"),
        SEED,
        exact=True,
    ),
    program(
        "unsafe_rbg",
        drawing(lambda k: (random.uniform(k, (9,)), random.key_data(random.split(k))), "unsafe_rbg"),
        SEED,
        exact=True,
    ),
    program("vmap over keys", drawing(lambda k: jax.vmap(lambda k: random.normal(k, (3,)))(random.split(k, 4))), SEED),
    program(
        "clone and wrap",
        drawing(lambda k: random.uniform(random.wrap_key_data(random.key_data(random.clone(k))))),
        SEED,
        exact=True,
    ),
    program("threefry of counts", lambda k, x: jax.extend.random.threefry_2x32(k, x), u32(2), u32(6), exact=True),
    program(
        "rng_bit_generator",
        lambda k: [
            lax.rng_bit_generator(k, (n,), d, algorithm=a)
            for n in (1, 5, 8)
            for d in ("uint8", "uint16", "uint32")
            for a in ALGORITHMS
        ],
        u32(4),
        exact=True,
    ),
    program(
        "rng_uniform bounds",
        lambda a: (lambda u: (jnp.all(u >= a), jnp.all(u < a + 2)))(lax.rng_uniform(a, a + 2, (64,))),
        f32(),
    ),
)

kind(
    "continuous distributions",
    *(
        program(name, drawing(lambda k, f=f: f(k)), SEED, roundings=r)
        for name, r, f in [
            ("uniform", 8, lambda k: random.uniform(k, (5, 3), minval=-2, maxval=3)),
            ("normal", 8, lambda k: random.normal(k, (5, 3))),
            ("complex normal", 16, lambda k: random.normal(k, (5,), jnp.complex64)),
            (
                "half precision normal",
                8,
                lambda k: (random.normal(k, (5,), jnp.bfloat16), random.uniform(k, (5,), jnp.float16)),
            ),
            ("truncated normal", 16, lambda k: random.truncated_normal(k, -1.0, 2.0, (9,))),
            ("exponential", 16, lambda k: random.exponential(k, (9,))),
            ("gamma", 64, lambda k: random.gamma(k, jnp.array([0.3, 1.0, 4.0]))),
            ("loggamma", 64, lambda k: random.loggamma(k, 0.5, (4,))),
            ("beta", 64, lambda k: random.beta(k, 2.0, jnp.array([0.5, 3.0]))),
            ("dirichlet", 64, lambda k: random.dirichlet(k, jnp.array([1.0, 2.0, 0.5]), (2,))),
            (
                "chisquare, f, t",
                128,
                lambda k: (
                    random.chisquare(k, 3.0, shape=(3,)),
                    random.f(k, 3.0, 4.0, shape=(3,)),
                    random.t(k, 3.0, (3,)),
                ),
            ),
            ("cauchy and laplace", 64, lambda k: (random.cauchy(k, (5,)), random.laplace(k, (5,)))),
            ("logistic and gumbel", 64, lambda k: (random.logistic(k, (5,)), random.gumbel(k, (5,)))),
            (
                "low and high gumbel",
                64,
                lambda k: (random.gumbel(k, (5,), mode="low"), random.gumbel(k, (5,), mode="high")),
            ),
            (
                "pareto, rayleigh, weibull",
                64,
                lambda k: (
                    random.pareto(k, 2.0, (5,)),
                    random.rayleigh(k, 2.0, (5,)),
                    random.weibull_min(k, 2.0, 1.5, (5,)),
                ),
            ),
            (
                "lognormal, maxwell, wald, triangular",
                64,
                lambda k: (
                    random.lognormal(k, 0.5, (5,)),
                    random.maxwell(k, (5,)),
                    random.wald(k, 2.0, (5,)),
                    random.triangular(k, -1.0, 0.2, 2.0, (5,)),
                ),
            ),
            (
                "multivariate normal",
                128,
                lambda k: random.multivariate_normal(k, jnp.zeros(3), jnp.eye(3) * 2 + 0.5, (4,)),
            ),
            (
                "ball and sphere",
                64,
                lambda k: (
                    random.ball(k, 3, shape=(4,)),
                    random.double_sided_maxwell(k, 0.0, 1.0, (3,)),
                    random.generalized_normal(k, 1.5, (3,)),
                ),
            ),
            ("orthogonal", 128, lambda k: random.orthogonal(k, 4)),
        ]
    ),
    program(
        "double", drawing(lambda k: (random.normal(k, (5,)), random.gamma(k, 2.5, (3,)))), SEED, x64=True, roundings=64
    ),
    program(
        "gradient through a sample",
        lambda s, a: jax.grad(lambda a: jnp.sum(random.gamma(random.key(s), a)))(a),
        SEED,
        f32(4, low=0.5, high=4),
        roundings=256,
    ),
)

kind(
    "discrete distributions",
    *(
        program(name, drawing(lambda k, f=f: f(k)), SEED, exact=True)
        for name, f in [
            (
                "randint",
                lambda k: (
                    random.randint(k, (9,), -5, 100),
                    random.randint(k, (9,), 0, 7, jnp.uint8),
                    random.randint(k, (4,), -128, 127, jnp.int8),
                ),
            ),
            ("bernoulli", lambda k: (random.bernoulli(k, 0.3, (20,)), random.bernoulli(k, jnp.array([0.0, 1.0])))),
            ("categorical", lambda k: random.categorical(k, jnp.log(jnp.array([0.1, 0.5, 0.4])), shape=(12,))),
            (
                "categorical without replacement",
                lambda k: random.categorical(k, jnp.log(jnp.array([0.1, 0.5, 0.4])), shape=(2,), replace=False),
            ),
            ("poisson", lambda k: (random.poisson(k, 3.0, (8,)), random.poisson(k, 40.0, (8,)))),
            ("binomial", lambda k: random.binomial(k, 10.0, 0.3, (8,))),
            ("geometric", lambda k: random.geometric(k, 0.3, (8,))),
            ("multinomial", lambda k: random.multinomial(k, 12, jnp.array([0.2, 0.5, 0.3]))),
            ("rademacher", lambda k: random.rademacher(k, (9,))),
            (
                "permutation",
                lambda k: (
                    random.permutation(k, 12),
                    random.permutation(k, jnp.arange(12).reshape(3, 4), axis=1),
                    random.permutation(k, jnp.arange(8).reshape(2, 4), axis=1, independent=True),
                ),
            ),
            (
                "choice",
                lambda k: (
                    random.choice(k, 10, (5,)),
                    random.choice(k, 10, (5,), replace=False),
                    random.choice(k, jnp.arange(4) * 3, (6,), p=jnp.array([0.1, 0.2, 0.3, 0.4])),
                    random.choice(k, 4, (3,), replace=False, p=jnp.array([0.1, 0.2, 0.3, 0.4])),
                ),
            ),
        ]
    ),
)

kind(
    "initializers",
    *(
        program(name, drawing(lambda k, f=f: f(k, (6, 8), jnp.float32)), SEED, roundings=64)
        for name, f in [
            ("glorot", jax.nn.initializers.glorot_uniform()),
            ("he", jax.nn.initializers.he_normal()),
            ("lecun", jax.nn.initializers.lecun_normal()),
            ("variance scaling", jax.nn.initializers.variance_scaling(2.0, "fan_out", "uniform")),
            ("truncated normal", jax.nn.initializers.truncated_normal(0.1)),
            ("orthogonal", jax.nn.initializers.orthogonal()),
        ]
    ),
    program(
        "dropout", lambda s, x: jnp.where(random.bernoulli(random.key(s), 0.8, x.shape), x / 0.8, 0), SEED, f32(5, 6)
    ),
    program("monte carlo", lambda s: jnp.mean(jnp.sum(random.uniform(random.key(s), (1000, 2)) ** 2, 1) < 1), SEED),
)
