"""Elementwise and special functions, statistics."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import jax.scipy.stats as stats
from jax import lax

from tests.frontends.jax_programs.table import f32, i32, kind, program, typed

f64 = functools.partial(typed, "float64")


kind(
    "elementwise functions",
    program(
        "over all numbers",
        lambda x: [
            f(x)
            for f in (
                jnp.exp,
                jnp.expm1,
                jnp.sin,
                jnp.cos,
                jnp.tanh,
                jnp.arctan,
                jnp.arcsinh,
                jnp.sinh,
                jnp.cosh,
                jnp.cbrt,
                jnp.sinc,
                jnp.exp2,
            )
        ],
        f32(40, low=-6, high=6),
    ),
    program(
        "over positive numbers",
        lambda x: [f(x) for f in (jnp.log, jnp.log1p, jnp.log2, jnp.log10, jnp.sqrt, lax.rsqrt, jnp.reciprocal)],
        f32(40, low=0.01, high=20),
    ),
    program(
        "over the unit interval",
        lambda x: [f(x) for f in (jnp.arcsin, jnp.arccos, jnp.arctanh, jnp.tan, jnp.square, jnp.deg2rad)],
        f32(40),
    ),
    program(
        "of two arguments",
        lambda x, y: [
            f(x, y)
            for f in (
                jnp.arctan2,
                jnp.hypot,
                jnp.logaddexp,
                jnp.logaddexp2,
                jnp.maximum,
                jnp.fmin,
                jnp.copysign,
                jnp.nextafter,
                jnp.heaviside,
                jnp.float_power,
            )
        ],
        f32(40, low=0.1, high=6),
        f32(40),
    ),
    program(
        "division",
        lambda x, y: [f(x, y) for f in (jnp.divide, jnp.floor_divide, jnp.remainder, jnp.fmod, jnp.divmod)],
        f32(40, low=-9, high=9),
        f32(40, low=1, high=3),
    ),
    program(
        "rounding",
        lambda x: [
            f(x)
            for f in (
                jnp.floor,
                jnp.ceil,
                jnp.trunc,
                jnp.rint,
                jnp.round,
                jnp.sign,
                jnp.signbit,
                jnp.modf,
                jnp.frexp,
                jnp.spacing,
            )
        ],
        f32(40, low=-4, high=4),
    ),
    program(
        "special values",
        lambda x: [
            f(x / jnp.trunc(x))
            for f in (
                jnp.exp,
                jnp.tanh,
                jnp.isnan,
                jnp.isinf,
                jnp.isfinite,
                jnp.nan_to_num,
                jnp.sqrt,
                jnp.arctan,
                jnp.sign,
            )
        ],
        f32(20, low=-2, high=2),
    ),
    program(
        "activations",
        lambda x: [
            f(x)
            for f in (
                jax.nn.relu,
                jax.nn.relu6,
                jax.nn.gelu,
                jax.nn.silu,
                jax.nn.softplus,
                jax.nn.elu,
                jax.nn.celu,
                jax.nn.selu,
                jax.nn.glu,
                jax.nn.squareplus,
                jax.nn.mish,
                jax.nn.hard_swish,
                jax.nn.soft_sign,
                jax.nn.log_sigmoid,
                jax.nn.sparse_plus,
            )
        ],
        f32(24, low=-7, high=7),
    ),
    program(
        "gradients of activations",
        lambda x: [
            jax.grad(lambda x, f=f: f(x).sum())(x)
            for f in (jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jax.nn.elu, jax.nn.mish, jax.nn.soft_sign)
        ],
        f32(24, low=-7, high=7),
        roundings=16,
    ),
    program(
        "integer powers",
        lambda x, i: (x**3, x**-2, lax.integer_pow(x, 7), jnp.power(x, i), i**2, 2**i),
        f32(9, low=0.5, high=2),
        i32(9, high=6),
    ),
)

kind(
    "special functions",
    *(
        program(name, f, *specs, roundings=r)
        for name, r, f, specs in [
            (
                "error functions",
                16,
                lambda x: (
                    special.erf(x),
                    special.erfc(x),
                    special.erfinv(jnp.tanh(x)),
                    special.ndtr(x),
                    special.log_ndtr(x),
                    special.ndtri(special.ndtr(x)),
                ),
                (f32(30, low=-3, high=3),),
            ),
            (
                "gamma functions",
                64,
                lambda x: (
                    special.gammaln(x),
                    special.digamma(x),
                    special.gamma(x),
                    special.polygamma(1, x),
                    special.polygamma(2, x),
                    special.factorial(x),
                ),
                (f32(30, low=0.2, high=6),),
            ),
            (
                "lgamma of negatives",
                64,
                lambda x: (special.gammaln(x), special.digamma(x), special.gammasgn(x)),
                (f32(30, low=-5, high=0),),
            ),
            (
                "incomplete gamma",
                256,
                lambda a, x: (special.gammainc(a, x), special.gammaincc(a, x)),
                (f32(30, low=0.2, high=6), f32(30, low=0.1, high=9)),
            ),
            (
                "incomplete beta",
                256,
                lambda a, b, x: (special.betainc(a, b, x), special.betaln(a, b), special.beta(a, b)),
                (f32(30, low=0.2, high=6), f32(30, low=0.2, high=6), f32(30, low=0.05, high=0.95)),
            ),
            (
                "bessel",
                32,
                lambda x: (special.i0(x), special.i0e(x), special.i1(x), special.i1e(x)),
                (f32(30, low=-6, high=6),),
            ),
            ("zeta", 64, lambda x, q: special.zeta(x, q), (f32(20, low=1.5, high=8), f32(20, low=0.3, high=5))),
            (
                "entropies",
                32,
                lambda x, y: (
                    special.entr(x),
                    special.rel_entr(x, y),
                    special.kl_div(x, y),
                    special.xlogy(x, y),
                    special.xlog1py(x, y),
                    special.logit(x),
                    special.expit(x),
                ),
                (f32(20, low=0.1, high=0.9), f32(20, low=0.1, high=0.9)),
            ),
            (
                "expi and exp1",
                256,
                lambda x: (special.exp1(x), special.expi(x), special.expn(2, x)),
                (f32(20, low=0.1, high=5),),
            ),
            (
                "spence, hyp1f1, lpmn",
                512,
                lambda x: (special.spence(x), special.hyp1f1(1.0, 2.0, x)),
                (f32(20, low=0.1, high=3),),
            ),
            (
                "spherical bessel and sinc",
                512,
                lambda x: (special.bessel_jn(x, v=3), jnp.sinc(x)),
                (f32(12, low=0.5, high=5),),
            ),
            (
                "logsumexp and softmax",
                32,
                lambda x: (
                    special.logsumexp(x),
                    special.softmax(x),
                    special.log_softmax(x),
                    special.multigammaln(jnp.abs(x) + 3, 2),
                ),
                (f32(12),),
            ),
            (
                "gradients",
                256,
                lambda x: [
                    jax.grad(lambda x, f=f: f(x).sum())(x)
                    for f in (special.erf, special.gammaln, special.digamma, special.i0e, special.ndtr, special.erfinv)
                ],
                (f32(12, low=0.1, high=0.9),),
            ),
            (
                "gradient of incomplete gamma",
                2048,
                lambda a, x: jax.grad(lambda a, x: special.gammainc(a, x).sum(), (0, 1))(a, x),
                (f32(12, low=0.5, high=4), f32(12, low=0.5, high=4)),
            ),
        ]
    ),
    program(
        "double",
        lambda x: (
            special.gammaln(x),
            special.digamma(x),
            special.erf(x),
            special.erfinv(x / 10),
            special.polygamma(2, x),
            special.i1e(x),
        ),
        f64(20, low=0.2, high=6),
        roundings=64,
        x64=True,
    ),
)

kind(
    "statistics",
    *(
        program(name, f, f32(16, low=0.1, high=0.9), roundings=r)
        for name, r, f in [
            (
                "normal",
                32,
                lambda x: (
                    stats.norm.pdf(x),
                    stats.norm.cdf(x),
                    stats.norm.logpdf(x, 1, 2),
                    stats.norm.ppf(x),
                    stats.norm.logcdf(-9 * x),
                    stats.norm.sf(x),
                    stats.norm.isf(x),
                ),
            ),
            (
                "beta and gamma",
                512,
                lambda x: (
                    stats.beta.logpdf(x, 2, 3),
                    stats.beta.cdf(x, 2, 3),
                    stats.gamma.logpdf(x, 2),
                    stats.gamma.cdf(x, 2),
                ),
            ),
            (
                "discrete",
                512,
                lambda x: (
                    stats.poisson.logpmf(jnp.arange(16), x * 9),
                    stats.bernoulli.pmf(1, x),
                    stats.binom.logpmf(jnp.arange(16), 20, x),
                    stats.geom.pmf(3, x),
                    stats.nbinom.pmf(3, 5, x),
                    stats.poisson.cdf(2, x * 9),
                ),
            ),
            (
                "heavy tails",
                256,
                lambda x: (
                    stats.cauchy.cdf(x),
                    stats.t.logpdf(x, 3),
                    stats.laplace.cdf(x),
                    stats.logistic.ppf(x),
                    stats.pareto.logpdf(x + 1, 2),
                    stats.gumbel_r.pdf(x) if hasattr(stats, "gumbel_r") else x,
                ),
            ),
            (
                "exponential, uniform, chi2, truncnorm",
                512,
                lambda x: (
                    stats.expon.logpdf(x),
                    stats.uniform.cdf(x),
                    stats.chi2.cdf(x, 3),
                    stats.truncnorm.logpdf(x, -1, 2),
                    stats.vonmises.pdf(x, 2),
                    stats.wrapcauchy.pdf(x, 0.5),
                ),
            ),
            (
                "multivariate normal",
                128,
                lambda x: stats.multivariate_normal.logpdf(x.reshape(8, 2), jnp.zeros(2), jnp.eye(2) * 2 + 0.3),
            ),
            (
                "dirichlet and multinomial",
                128,
                lambda x: (
                    stats.dirichlet.logpdf(x[:3] / x[:3].sum(), jnp.array([1.0, 2, 3])),
                    stats.multinomial.logpmf(jnp.array([1, 2, 3]), 6, jnp.array([0.2, 0.3, 0.5])),
                ),
            ),
            ("kernel density", 64, lambda x: stats.gaussian_kde(x)(jnp.linspace(0, 1, 5))),
            ("rank, mode, sem", 32, lambda x: (stats.rankdata(x), stats.mode(jnp.round(x * 4)), stats.sem(x))),
        ]
    ),
)
