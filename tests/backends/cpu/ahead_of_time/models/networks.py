"""Networks: vision, language, speech, graphs, generation. Their weights are constants or computed from a seed."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from .registry import f32, i32, model, typed

NHWC = ("NHWC", "HWIO", "NHWC")


def weights(name: str, *shape: int) -> Array:
    """Weights that become constants of the program, scaled for their number of inputs."""
    seed = sum(ord(letter) * 31**place for place, letter in enumerate(name)) % 2**32
    fan = math.prod(shape[:-1]) or 1
    values = np.random.default_rng(seed).standard_normal(shape) / math.sqrt(fan)
    return jnp.asarray(values.astype(np.float32))


def conv(x: Array, name: str, out: int, size: int = 3, stride: int = 1, groups: int = 1, dilation: int = 1) -> Array:
    kernel = weights(name, size, size, x.shape[-1] // groups, out)
    strides, dilations = (stride, stride), (dilation, dilation)
    return lax.conv_general_dilated(
        x, kernel, strides, "SAME", rhs_dilation=dilations, dimension_numbers=NHWC, feature_group_count=groups
    )


def batch_norm(x: Array, name: str) -> Array:
    mean, scale, bias = (weights(f"{name}.{part}", x.shape[-1]) for part in ("mean", "scale", "bias"))
    return (x - mean) * lax.rsqrt(scale * scale + 1e-3) + bias


def layer_norm(x: Array) -> Array:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def dense(x: Array, name: str, out: int) -> Array:
    return x @ weights(f"{name}.w", x.shape[-1], out) + weights(f"{name}.b", out)


def max_pool(x: Array, size: int = 2) -> Array:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, size, size, 1), "SAME")


def attention(q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    scores = jnp.einsum("...qhd,...khd->...hqk", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("...hqk,...khd->...qhd", jax.nn.softmax(scores, axis=-1), v)


def heads(x: Array, count: int) -> Array:
    return x.reshape(*x.shape[:-1], count, -1)


def transformer_layer(x: Array, name: str, count: int, mask: Array | None = None) -> Array:
    q, k, v = (heads(part, count) for part in jnp.split(dense(layer_norm(x), f"{name}.qkv", 3 * x.shape[-1]), 3, -1))
    x = x + dense(attention(q, k, v, mask).reshape(x.shape), f"{name}.out", x.shape[-1])
    return x + dense(jax.nn.gelu(dense(layer_norm(x), f"{name}.up", 4 * x.shape[-1])), f"{name}.down", x.shape[-1])


@model(f32(2, 32, 32, 3))
def resnet(images: Array) -> Array:
    x = max_pool(jax.nn.relu(batch_norm(conv(images, "stem", 16, 7, 2), "stem")))
    for number, (width, stride) in enumerate([(16, 1), (32, 2), (64, 2)]):
        name = f"block{number}"
        y = jax.nn.relu(batch_norm(conv(x, f"{name}.a", width, 3, stride), f"{name}.a"))
        y = batch_norm(conv(y, f"{name}.b", width), f"{name}.b")
        shortcut = x if x.shape == y.shape else batch_norm(conv(x, f"{name}.s", width, 1, stride), f"{name}.s")
        x = jax.nn.relu(y + shortcut)
    return jax.nn.softmax(dense(x.mean((1, 2)), "head", 10))


@model(f32(1, 24, 24, 3))
def mobilenet(images: Array) -> Array:
    x = jax.nn.hard_swish(batch_norm(conv(images, "stem", 8, 3, 2), "stem"))
    for number, (width, stride) in enumerate([(8, 1), (12, 2), (12, 1)]):
        name, hidden = f"block{number}", 4 * x.shape[-1]
        y = jax.nn.relu6(batch_norm(conv(x, f"{name}.up", hidden, 1), f"{name}.up"))
        y = jax.nn.relu6(batch_norm(conv(y, f"{name}.deep", hidden, 5, stride, hidden), f"{name}.deep"))
        gate = jax.nn.relu(dense(y.mean((1, 2), keepdims=True), f"{name}.squeeze", 4))
        y = y * jax.nn.hard_sigmoid(dense(gate, f"{name}.excite", hidden))
        y = batch_norm(conv(y, f"{name}.down", width, 1), f"{name}.down")
        x = x + y if x.shape == y.shape else y
    return dense(x.mean((1, 2)), "head", 7)


@model(f32(1, 16, 16, 2))
def unet(images: Array) -> Any:
    first = jax.nn.relu(conv(images, "down0", 8))
    second = jax.nn.relu(conv(max_pool(first), "down1", 16))
    x = jax.nn.relu(conv(max_pool(second), "middle", 32, dilation=2))
    for skip, name in ((second, "up1"), (first, "up0")):
        x = lax.conv_transpose(x, weights(f"{name}.t", 2, 2, x.shape[-1], skip.shape[-1]), (2, 2), "SAME")
        x = jax.nn.relu(conv(jnp.concatenate([x, skip], -1), name, skip.shape[-1]))
    return jnp.argmax(conv(x, "classes", 4, 1), -1), jax.nn.sigmoid(conv(x, "mask", 1, 1))


@model(f32(2, 16, 16, 3))
def vision_transformer(images: Array) -> Array:
    patches = lax.conv_general_dilated(images, weights("patch", 4, 4, 3, 24), (4, 4), "VALID", dimension_numbers=NHWC)
    tokens = patches.reshape(2, 16, 24)
    tokens = jnp.concatenate([jnp.broadcast_to(weights("class", 1, 1, 24), (2, 1, 24)), tokens], 1)
    x = tokens + weights("position", 17, 24)
    for layer in range(2):
        x = transformer_layer(x, f"layer{layer}", 3)
    return dense(layer_norm(x)[:, 0], "head", 10)


@model(i32(2, 12, high=50))
def gpt2(tokens: Array) -> Array:
    embedding = weights("embedding", 50, 32) * 5
    x = embedding[tokens] + weights("position", 12, 32)
    mask = jnp.tril(jnp.ones((12, 12), bool))
    for layer in range(3):
        x = transformer_layer(x, f"layer{layer}", 4, mask)
    return jax.nn.log_softmax(layer_norm(x) @ embedding.T)


def rotated(x: Array) -> Array:
    angles = jnp.arange(x.shape[-3])[:, None] / 100.0 ** (jnp.arange(x.shape[-1] // 2) / (x.shape[-1] // 2))
    sine, cosine = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    even, odd = x[..., ::2], x[..., 1::2]
    return jnp.stack([even * cosine - odd * sine, even * sine + odd * cosine], -1).reshape(x.shape)


@model(i32(1, 10, high=40), rtol=3e-2, atol=3e-2)
def llama_in_bf16(tokens: Array) -> Array:
    """Rounds to bf16 between layers, where another order of sums may change the last bit."""

    def normed(x: Array) -> Array:
        wide = x.astype(jnp.float32)
        return (wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-5)).astype(jnp.bfloat16)

    def linear(x: Array, name: str, out: int) -> Array:
        return x @ weights(name, x.shape[-1], out).astype(jnp.bfloat16)

    x = (weights("embedding", 40, 32) * 4).astype(jnp.bfloat16)[tokens]
    mask = jnp.tril(jnp.ones((10, 10), bool))
    for layer in range(2):
        y = normed(x)
        q, k, v = (heads(linear(y, f"{layer}.{n}", 8 * c), c) for n, c in (("q", 4), ("k", 2), ("v", 2)))
        q, k = rotated(q.astype(jnp.float32)), rotated(k.astype(jnp.float32))
        k, v = (jnp.repeat(part, 2, axis=2) for part in (k, v))
        y = attention(q, k, v.astype(jnp.float32), mask).astype(jnp.bfloat16).reshape(x.shape)
        x = x + linear(y, f"{layer}.o", 32)
        y = normed(x)
        x = x + linear(jax.nn.silu(linear(y, f"{layer}.gate", 64)) * linear(y, f"{layer}.up", 64), f"{layer}.d", 32)
    return linear(normed(x), "head", 40).astype(jnp.float32)


@model(i32(2, 4, high=30), typed("uint32", 2, low=0, high=2**32))
def sampling_with_cache(prompt: Array, key: Array) -> Array:
    embedding = weights("embedding", 30, 16) * 4

    def step(state: Any, place: Array) -> Any:
        token, keys, values, key = state
        x = embedding[token]
        q, k, v = jnp.split(dense(layer_norm(x), "qkv", 48), 3, -1)
        keys = lax.dynamic_update_slice(keys, k[:, None], (0, place, 0))
        values = lax.dynamic_update_slice(values, v[:, None], (0, place, 0))
        scores = jnp.einsum("bd,bkd->bk", q, keys) / 4
        scores = jnp.where(jnp.arange(10) <= place, scores, -jnp.inf)
        x = x + jnp.einsum("bk,bkd->bd", jax.nn.softmax(scores), values)
        logits = layer_norm(x) @ embedding.T
        top, _ = lax.top_k(logits, 5)
        key, used = jax.random.split(key)
        sampled = jax.random.categorical(used, jnp.where(logits < top[:, -1:], -jnp.inf, logits))
        given = jnp.where(place + 1 < 4, prompt[:, jnp.minimum(place + 1, 3)], sampled)
        return (given.astype(jnp.int32), keys, values, key), given

    start = (prompt[:, 0], jnp.zeros((2, 10, 16)), jnp.zeros((2, 10, 16)), key)
    return lax.scan(step, start, jnp.arange(10))[1]


@model(f32(2, 16))
def beam_search(context: Array) -> Any:
    width, vocabulary = 3, 12

    def step(state: Any, _: Any) -> Any:
        hidden, scores, sequences, place = state
        hidden = jnp.tanh(dense(hidden, "cell", 16) + weights("tokens", vocabulary, 16)[sequences[:, :, place]])
        total = scores[:, :, None] + jax.nn.log_softmax(dense(hidden, "out", vocabulary) * 3)
        scores, flat = lax.top_k(total.reshape(2, -1), width)
        beam, token = flat // vocabulary, flat % vocabulary
        hidden, sequences = (jax.vmap(lambda a, b: a[b])(part, beam) for part in (hidden, sequences))
        return (hidden, scores, sequences.at[:, :, place + 1].set(token), place + 1), None

    hidden = jnp.broadcast_to(context[:, None], (2, width, 16))
    scores = jnp.tile(jnp.array([0.0, -1e9, -1e9]), (2, 1))
    state = (hidden, scores, jnp.zeros((2, width, 7), jnp.int32), 0)
    (_, scores, sequences, _), _ = lax.scan(step, state, None, length=6)
    return sequences, scores


def lstm(x: Array, name: str, size: int, reverse: bool = False) -> Array:
    def step(state: Any, x: Array) -> Any:
        h, c = state
        i, f, g, o = jnp.split(dense(jnp.concatenate([x, h], -1), name, 4 * size), 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], size))
    return lax.scan(step, (zeros, zeros), x, reverse=reverse)[1]


@model(f32(9, 2, 6), i32(2, low=4, high=10))
def tagger_with_viterbi(x: Array, lengths: Array) -> Any:
    features = jnp.concatenate([lstm(x, "forward", 8), lstm(x, "backward", 8, reverse=True)], -1)
    emissions, transitions = dense(features, "tags", 5) * 4, weights("transitions", 5, 5)

    def forward(state: Array, inputs: Any) -> Any:
        emission, place = inputs
        best = state[:, :, None] + transitions
        after = best.max(1) + emission
        used = (place < lengths)[:, None]
        return jnp.where(used, after, state), jnp.where(used, best.argmax(1), jnp.arange(5))

    score, pointers = lax.scan(forward, emissions[0], (emissions[1:], jnp.arange(1, 9)))

    def backward(tag: Array, pointer: Array) -> Any:
        before = jnp.take_along_axis(pointer, tag[:, None], 1)[:, 0]
        return before, before

    last = score.argmax(1)
    tags = lax.scan(backward, last, pointers, reverse=True)[1]
    return jnp.concatenate([tags, last[None]]), score.max(1)


@model(i32(2, 7, high=20))
def translation_with_gru(source: Array) -> Array:
    def gru(h: Array, x: Array, name: str) -> Array:
        z, r = jnp.split(jax.nn.sigmoid(dense(jnp.concatenate([x, h], -1), f"{name}.zr", 24)), 2, -1)
        return z * h + (1 - z) * jnp.tanh(dense(jnp.concatenate([x, r * h], -1), f"{name}.h", 12))

    embedded = weights("source", 20, 12)[source] * 4
    zeros = jnp.zeros((2, 12))

    def encode(h: Array, x: Array) -> Any:
        h = gru(h, x, "encoder")
        return h, h

    state, memory = lax.scan(encode, zeros, embedded.swapaxes(0, 1))
    keys = dense(memory, "keys", 12)

    def decode(carry: Any, _: Any) -> Any:
        h, token = carry
        score = jnp.tanh(keys + dense(h, "query", 12)) @ weights("score", 12)
        context = (jax.nn.softmax(score, 0)[:, :, None] * memory).sum(0)
        h = gru(h, jnp.concatenate([weights("target", 15, 12)[token], context], -1), "decoder")
        logits = dense(h, "out", 15) * 4
        return (h, logits.argmax(-1)), logits

    return lax.scan(decode, (state, jnp.zeros(2, jnp.int32)), None, length=6)[1]


@model(f32(4, 24), rtol=1e-3, atol=1e-3)
def int8_network(x: Array) -> Array:
    def quantized(x: Array) -> tuple[Array, Array]:
        scale = jnp.maximum(jnp.abs(x).max(), 1e-6) / 127
        return jnp.clip(jnp.round(x / scale), -127, 127).astype(jnp.int8), scale

    for layer, width in enumerate((48, 24, 6)):
        w, w_scale = quantized(weights(f"layer{layer}", x.shape[-1], width))
        q, scale = quantized(x)
        sums = lax.dot_general(q, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        x = sums.astype(jnp.float32) * (scale * w_scale)
        x = jax.nn.relu(x) if layer < 2 else x
    return x


@model(typed("uint8", 1, 12, 12, 3, low=0, high=256), rtol=1e-3, atol=1e-3)
def int8_convnet_of_bytes(image: Array) -> Array:
    x = image.astype(jnp.int32) - 128
    kernel = jnp.round(weights("kernel", 3, 3, 3, 8) * 60).astype(jnp.int32)
    x = lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=NHWC)
    x = jnp.clip((x * 77 + (1 << 13)) >> 14, 0, 127).astype(jnp.int8)
    w = jnp.round(weights("dense", 288, 5) * 100).astype(jnp.int8)
    return lax.dot_general(x.reshape(1, -1), w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


@model(f32(1, 40, 8))
def wavenet(x: Array) -> Array:
    skips = jnp.zeros((1, 40, 8))
    for layer in range(5):
        dilation = 2**layer
        kernel = weights(f"{layer}.kernel", 2, 8, 16)
        y = lax.conv_general_dilated(
            x, kernel, (1,), ((dilation, 0),), rhs_dilation=(dilation,), dimension_numbers=("NWC", "WIO", "NWC")
        )
        y = jnp.tanh(y[..., :8]) * jax.nn.sigmoid(y[..., 8:])
        x, skips = x + dense(y, f"{layer}.residual", 8), skips + dense(y, f"{layer}.skip", 8)
    return jax.nn.softmax(dense(jax.nn.relu(skips), "out", 16))


@model(f32(12, 6), i32(40, high=12), i32(40, high=12))
def graph_attention(nodes: Array, senders: Array, receivers: Array) -> Array:
    x = nodes
    for layer in range(2):
        h = heads(dense(x, f"{layer}.h", 8), 2)
        logits = jax.nn.leaky_relu((h[senders] * weights(f"{layer}.s", 2, 4)).sum(-1) + h[receivers].mean(-1))
        top = jax.ops.segment_max(logits, receivers, 12)
        weight = jnp.exp(logits - top[receivers])
        total = jax.ops.segment_sum(weight, receivers, 12)
        messages = h[senders] * (weight / total[receivers])[..., None]
        x = jax.nn.elu(jax.ops.segment_sum(messages, receivers, 12).reshape(12, 8))
    return jax.ops.segment_sum(x, jnp.arange(12) // 4, 3)


@model(f32(2, 16, 6))
def state_space_model(x: Array) -> Array:
    step = jax.nn.softplus(dense(x, "step", 6))[..., None]
    decay = jnp.exp(-step * jnp.exp(weights("a", 6, 4)))
    drive = step * x[..., None] * dense(x, "b", 4)[:, :, None]

    def combined(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    states = lax.associative_scan(combined, (decay, drive), axis=1)[1]
    y = (states * dense(x, "c", 4)[:, :, None]).sum(-1) + x * weights("d", 6)
    return y * jax.nn.silu(dense(x, "gate", 6))


@model(f32(3, 3), f32(3, 3))
def radiance_field(origins: Array, directions: Array) -> Array:
    directions = directions / jnp.linalg.norm(directions, axis=-1, keepdims=True)
    depths = jnp.linspace(0.1, 2.0, 12)
    points = origins[:, None] + directions[:, None] * depths[:, None]
    encoded = points[..., None] * 2.0 ** jnp.arange(4)
    x = jnp.concatenate([jnp.sin(encoded), jnp.cos(encoded)], -1).reshape(3, 12, -1)
    x = jax.nn.relu(dense(jax.nn.relu(dense(x, "first", 32)), "second", 32))
    density, colors = jax.nn.softplus(dense(x, "density", 1)[..., 0]), jax.nn.sigmoid(dense(x, "color", 3))
    alpha = 1 - jnp.exp(-density * (depths[1] - depths[0]))
    through = jnp.cumprod(jnp.concatenate([jnp.ones((3, 1)), 1 - alpha[:, :-1]], 1), 1)
    return ((alpha * through)[..., None] * colors).sum(1)


@model(typed("uint32", 2, low=0, high=2**32), rtol=1e-3, atol=1e-3)
def diffusion_sampler(key: Array) -> Array:
    betas = jnp.linspace(1e-3, 0.2, 10)
    alphas = jnp.cumprod(1 - betas)

    def step(number: Array, state: Any) -> Any:
        x, key = state
        t = 9 - number
        angles = t / 10.0 ** jnp.arange(4)
        embedded = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)])
        hidden = jax.nn.silu(conv(x, "in", 8) + dense(embedded, "time", 8))
        noise = conv(hidden, "out", 2)
        x = (x - betas[t] / jnp.sqrt(1 - alphas[t]) * noise) / jnp.sqrt(1 - betas[t])
        key, used = jax.random.split(key)
        return x + jnp.where(t > 0, jnp.sqrt(betas[t]), 0) * jax.random.normal(used, x.shape), key

    first, key = jax.random.split(key)
    start = (jax.random.normal(first, (1, 8, 8, 2)), key)
    return lax.fori_loop(0, 10, step, start)[0]


@model(f32(2, 16, 12))
def mlp_mixer(x: Array) -> Array:
    for layer in range(2):
        y = layer_norm(x).swapaxes(1, 2)
        x = x + dense(jax.nn.gelu(dense(y, f"{layer}.t0", 24), approximate=False), f"{layer}.t1", 16).swapaxes(1, 2)
        x = x + dense(jax.nn.gelu(dense(layer_norm(x), f"{layer}.c0", 24)), f"{layer}.c1", 12)
    return dense(layer_norm(x).mean(1), "head", 5)


@model(f32(2, 12, 8))
def capsules(x: Array) -> Array:
    votes = jnp.einsum("bid,ijdk->bijk", x, weights("votes", 12, 4, 8, 6))

    def squashed(s: Array) -> Array:
        square = (s * s).sum(-1, keepdims=True)
        return square / (1 + square) * s / jnp.sqrt(square + 1e-8)

    logits = jnp.zeros((2, 12, 4))
    for _ in range(3):
        v = squashed(jnp.einsum("bij,bijk->bjk", jax.nn.softmax(logits, -1), votes))
        logits = logits + jnp.einsum("bijk,bjk->bij", votes, v)
    return jnp.linalg.norm(v, axis=-1)


@model(f32(5, 6))
def normalizing_flow(x: Array) -> Array:
    log_det = jnp.zeros(5)
    for layer in range(4):
        kept, moved = jnp.split(jnp.flip(x, -1) if layer % 2 else x, 2, -1)
        hidden = jnp.tanh(dense(kept, f"{layer}.h", 16))
        scale, shift = jnp.tanh(dense(hidden, f"{layer}.s", 3)), dense(hidden, f"{layer}.t", 3)
        x = jnp.concatenate([kept, moved * jnp.exp(scale) + shift], -1)
        log_det = log_det + scale.sum(-1)
    return jax.scipy.stats.norm.logpdf(x).sum(-1) + log_det


@model(f32(4, 5), i32(4, 3, 2, high=100))
def recommender(numbers: Array, categories: Array) -> Array:
    tables = weights("tables", 3, 100, 8) * 8
    bags = jnp.stack([tables[n][categories[:, n]].sum(1) for n in range(3)], 1)
    bottom = jax.nn.relu(dense(numbers, "bottom", 8))
    features = jnp.concatenate([bottom[:, None], bags], 1)
    products = jnp.einsum("bid,bjd->bij", features, features)
    rows, columns = np.tril_indices(4, -1)
    x = jnp.concatenate([bottom, products[:, rows, columns]], 1)
    return jax.nn.sigmoid(dense(jax.nn.relu(dense(x, "top", 16)), "out", 1))


@model(f32(1, 400), rtol=1e-3, atol=1e-3)
def keyword_spotter(sound: Array) -> Array:
    frames = jnp.stack([sound[:, start : start + 64] for start in range(0, 336, 32)], 1) * jnp.hanning(64)
    power = jnp.abs(jnp.fft.rfft(frames)) ** 2
    mel = jnp.log(power @ jnp.abs(weights("mel", 33, 16)) + 1e-2)
    x = jax.nn.relu(batch_norm(conv(mel[..., None], "first", 8, 3, 2), "first"))
    x = jax.nn.relu(conv(conv(x, "deep", 8, 3, 1, 8), "point", 12, 1))
    return jax.nn.softmax(dense(x.mean((1, 2)), "words", 6))


@model(f32(20, 4, low=0.0, high=1.0), f32(20, low=0.0, high=1.0))
def detection_with_suppression(corners: Array, scores: Array) -> Any:
    low, size = corners[:, :2], corners[:, 2:] * 0.5
    boxes = jnp.concatenate([low, low + size], 1)
    order = jnp.argsort(-scores)
    boxes, scores = boxes[order], scores[order]
    start, end = (jnp.stack([f(boxes[:, None, part], boxes[None, :, part]) for part in parts], -1) for f, parts in
                  ((jnp.maximum, (0, 1)), (jnp.minimum, (2, 3))))  # fmt: skip
    shared = jnp.prod(jnp.maximum(end - start, 0), -1)
    area = jnp.prod(size[order], -1)
    overlap = shared / (area[:, None] + area[None] - shared)

    def step(i: Array, kept: Array) -> Array:
        suppressed = (overlap[i] > 0.3) & (jnp.arange(20) > i) & kept[i]
        return kept & ~suppressed

    kept = lax.fori_loop(0, 20, step, jnp.ones(20, bool))
    return jnp.where(kept[:, None], boxes, -1), kept.sum()


@model(f32(1, 6, 6, 4), f32(1, 5))
def image_generator(x: Array, style: Array) -> Array:
    for number, method in enumerate(("bilinear", "nearest", "cubic")):
        height = 6 * 2 ** (number + 1) if number < 2 else 30
        x = jax.image.resize(x, (1, height, height, x.shape[-1]), method)
        kernel = (
            weights(f"{number}.kernel", 3, 3, x.shape[-1], 4) * dense(style, f"{number}.style", x.shape[-1])[0, :, None]
        )
        kernel = kernel * lax.rsqrt((kernel**2).sum((0, 1, 2)) + 1e-6)
        x = jax.nn.leaky_relu(lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=NHWC), 0.2)
    return jnp.tanh(conv(x, "rgb", 3, 1))


@model(f32(1, 8, 8, 12))
def shifted_windows(x: Array) -> Array:
    for shift in (0, 2):
        y = jnp.roll(layer_norm(x), (-shift, -shift), (1, 2))
        y = y.reshape(1, 2, 4, 2, 4, 12).transpose(0, 1, 3, 2, 4, 5).reshape(4, 16, 12)
        q, k, v = (heads(part, 3) for part in jnp.split(dense(y, f"{shift}.qkv", 36), 3, -1))
        y = attention(q, k, v).reshape(1, 2, 2, 4, 4, 12).transpose(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 12)
        x = x + jnp.roll(dense(y, f"{shift}.out", 12), (shift, shift), (1, 2))
    merged = x.reshape(1, 4, 2, 4, 2, 12).transpose(0, 1, 3, 2, 4, 5).reshape(1, 4, 4, 48)
    return dense(layer_norm(merged), "merge", 24)


@model(f32(10, 2, 6), i32(2, 4, low=1, high=6))
def ctc_loss_and_gradient(x: Array, labels: Array) -> Any:
    def loss(x: Array) -> Array:
        logs = jax.nn.log_softmax(x)
        extended = jnp.stack([jnp.zeros_like(labels), labels], -1).reshape(2, 8)
        extended = jnp.concatenate([extended, jnp.zeros((2, 1), jnp.int32)], 1)
        other = (extended != jnp.roll(extended, 2, 1)) & (extended != 0)
        start = jnp.full((2, 9), -1e5).at[:, 0].set(0.0)

        def step(state: Array, log: Array) -> Any:
            one = jnp.concatenate([jnp.full((2, 1), -1e5), state[:, :-1]], 1)
            two = jnp.where(other, jnp.concatenate([jnp.full((2, 2), -1e5), state[:, :-2]], 1), -1e5)
            total = jnp.logaddexp(jnp.logaddexp(state, one), two)
            return total + jnp.take_along_axis(log, extended, 1), None

        state = lax.scan(step, start, logs)[0]
        return -jnp.logaddexp(state[:, -1], state[:, -2]).mean()

    return jax.value_and_grad(loss)(x)


@model(f32(3, 10, 8), i32(3, low=3, high=11))
def encoder_with_lengths(x: Array, lengths: Array) -> Array:
    mask = (jnp.arange(10) < lengths[:, None])[:, None, None]
    for layer in range(2):
        x = transformer_layer(x, f"layer{layer}", 2, mask)
    return (x * mask[:, 0, 0, :, None]).sum(1) / lengths[:, None]


@model(f32(4, 16), f32(4, 3), rtol=1e-3, atol=1e-4)
def adversarial_training_step(x: Array, noise: Array) -> Any:
    parameters = {"a": weights("a", 16, 12), "b": weights("b", 12, 1)}
    generator = {"a": weights("c", 3, 12), "b": weights("d", 12, 16)}

    def network(p: Any, x: Array) -> Array:
        return jnp.tanh(x @ p["a"]) @ p["b"]

    def critic_loss(p: Any) -> Array:
        fake = network(generator, noise)
        mixed = 0.5 * (x + fake)
        slope = jax.vmap(jax.grad(lambda row: network(p, row)[0]))(mixed)
        penalty = ((jnp.linalg.norm(slope, axis=-1) - 1) ** 2).mean()
        return network(p, fake).mean() - network(p, x).mean() + 10 * penalty

    slopes = jax.grad(critic_loss)(parameters)
    return jax.tree.map(lambda p, g: p - 0.01 * g / (jnp.abs(g) + 1e-3), parameters, slopes)


@model(f32(2, 6, 6, 6, 2))
def video_network(x: Array) -> Array:
    numbers = ("NDHWC", "DHWIO", "NDHWC")
    x = jax.nn.selu(
        lax.conv_general_dilated(x, weights("a", 3, 3, 3, 2, 4), (1, 2, 2), "SAME", dimension_numbers=numbers)
    )
    x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 3, 3, 1), (1, 2, 1, 1, 1), "VALID") / 18
    return jax.nn.softmax(dense(x.reshape(2, -1), "head", 4))


@model(i32(3, high=8))
def experts_with_switch(which: Array) -> Any:
    experts = [functools.partial(dense, name=f"expert{n}", out=4) for n in range(3)]
    x = weights("inputs", 8, 6)[which]
    return jax.vmap(lambda n, row: lax.switch(n % 3, experts, row))(which, x), lax.switch(which[0] % 3, experts, x)
