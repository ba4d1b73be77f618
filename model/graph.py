"""The ONNX graph of the encoder: token ids and mask in, sentence embedding out.

Inputs `input_ids` and `attention_mask`, int64 [batch, seq]. Outputs `sentence_embedding`, float
[batch, hidden], mean-pooled over the mask and of length one, and `last_hidden_state`, float
[batch, seq, hidden], for whoever pools otherwise. Does not know the tokenizer or the prefixes.

Two arithmetics of the same weights:
- `int8` ships: activations quantised per tensor at run time, weights per output channel to 7 bits.
  Full 8-bit weights would saturate the 16-bit sums of AVX2 without VNNI.
- `fp32` is the yardstick of `reference.py`.

Fused operators of the `com.microsoft` domain are part of every ONNX Runtime build. The word table
stays in the 4-bit blocks of the source, bit for bit, in both.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

import layers
from weights import BLOCK, Float32, Weights

CONTRIB = "com.microsoft"
OPSET = 21  # the first with 4-bit integer tensors
IR_VERSION = 10
WEIGHT_LIMIT = 63  # 7 bits, signed

# Tensors of this size and above go into the data file; smaller ones stay in the graph, where shape
# inference can see them. 64 is a cache line: a file-mapped tensor starts as aligned as an own one.
EXTERNAL_BYTES = 256
EXTERNAL_ALIGNMENT = 64


class Arithmetic(Enum):
    """How the linear layers compute."""

    INT8 = "int8"
    FP32 = "fp32"


class GraphBuilder:
    """Collects nodes and constants under unique, repeatable names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        """Adds a constant and returns its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def int4_constant(self, name: str, values: npt.NDArray[np.uint8]) -> str:
        """Adds a signed 4-bit matrix given as values + 8; even columns go to the low nibble."""
        signed = values ^ 8  # the two's complement nibble of value - 8
        packed = signed[:, 0::2] | (signed[:, 1::2] << 4)
        self.constants.append(
            TensorProto(
                name=name, data_type=TensorProto.INT4, dims=values.shape, raw_data=packed.tobytes()
            )
        )
        return name

    def nodes_of(
        self, operator: str, inputs: list[str], outputs: list[str], domain: str, **attributes: Any
    ) -> None:
        """Adds a node with named outputs."""
        name = f"{operator}_{len(self.nodes) + 1}"
        self.nodes.append(
            helper.make_node(operator, inputs, outputs, name=name, domain=domain, **attributes)
        )

    def node(
        self,
        operator: str,
        inputs: list[str],
        domain: str = "",
        output: str | None = None,
        **attributes: Any,
    ) -> str:
        """Adds a node with one output and returns the output's name."""
        output = output or f"{operator}_{len(self.nodes) + 1}_out"
        self.nodes_of(operator, inputs, [output], domain, **attributes)
        return output


class Encoder:
    """Writes the encoder's layers into a `GraphBuilder`."""

    def __init__(
        self, weights: Weights, arithmetic: Arithmetic, factors: dict[str, Float32]
    ) -> None:
        self.weights = weights
        self.arithmetic = arithmetic
        self.factors = factors
        self.graph = GraphBuilder()

    def norm(
        self,
        value: str,
        skip: str,
        name: str,
        bias: str | None = None,
        output: str | None = None,
    ) -> str:
        """Layer norm of `value + skip (+ bias)`, with the scale and shift called `name`."""
        inputs = [value, skip]
        for suffix in (".w", ".b"):
            inputs.append(self.graph.constant(name + suffix, self.weights.vector(name + suffix)))
        if bias is not None:
            inputs.append(self.graph.constant(bias, self.weights.vector(bias)))
        return self.graph.node(
            "SkipLayerNormalization", inputs, CONTRIB, output, epsilon=float(self.weights.epsilon)
        )

    def linear(self, value: str, linear: layers.Linear, layer: int, with_bias: bool) -> str:
        """`value @ W.T`, plus the bias if it is not added later by a norm."""
        graph, tag = self.graph, linear.tag(layer)
        matrix = linear.matrix(self.weights, layer).T
        bias = None
        if with_bias:
            biases = [self.weights.vector(f"l{layer}.{part}.b") for part in linear.parts]
            bias = graph.constant(tag + ".bias", np.concatenate(biases))

        if self.arithmetic is Arithmetic.FP32:
            product = graph.node("MatMul", [value, graph.constant(tag + ".weight", matrix)])
            return graph.node("Add", [product, bias]) if bias else product

        factor = self.factors[tag]
        inverse = graph.constant(tag + ".smooth", np.float32(1) / factor)
        value = graph.node("Mul", [value, inverse])
        matrix = matrix * factor[:, None]
        scale = np.abs(matrix).max(axis=0) / np.float32(WEIGHT_LIMIT)
        inputs = [
            value,
            graph.constant(tag + ".int8", np.rint(matrix / scale).astype(np.int8)),
            graph.constant(tag + ".scale", scale),
            graph.constant(tag + ".zero", np.zeros(len(scale), np.int8)),
        ]
        if bias:
            inputs.append(bias)
        return graph.node("DynamicQuantizeMatMul", inputs, CONTRIB)

    def embeddings(self, kept: npt.NDArray[np.int64]) -> str:
        """Word (kept rows only) plus position plus type embedding, normalised."""
        graph, weights = self.graph, self.weights
        values, scales = weights.quantised("emb.word", weights.hidden)
        word = graph.node(
            "GatherBlockQuantized",
            [
                graph.int4_constant("word.int4", values[kept]),
                "input_ids",
                graph.constant("word.scale", scales[kept]),
            ],
            CONTRIB,
            gather_axis=0,
            quantize_axis=1,
            block_size=BLOCK,
        )
        word = graph.node("Cast", [word], to=TensorProto.FLOAT)
        # The model has one token type in use, so its embedding is added to every position.
        table = weights.vector("emb.pos").reshape(-1, weights.hidden)
        table = table + weights.vector("emb.type")[: weights.hidden]
        length = graph.node("Shape", ["input_ids"], start=1, end=2)
        zero = graph.constant("zero", np.array([0], np.int64))
        position = graph.node("Slice", [graph.constant("position", table), zero, length, zero])
        return self.norm(word, position, "emb.ln")

    def block(self, value: str, mask: str, layer: int) -> str:
        """One transformer block."""
        graph, prefix = self.graph, f"l{layer}."
        stacked = self.linear(value, layers.QKV, layer, with_bias=True)
        heads = [prefix + part for part in layers.QKV.parts]
        graph.nodes_of("Split", [stacked, "thirds"], heads, "", axis=2)
        context = graph.node(
            "MultiHeadAttention", [*heads, "", mask], CONTRIB, num_heads=self.weights.heads
        )
        attended = self.linear(context, layers.ATTENTION_OUT, layer, with_bias=False)
        value = self.norm(attended, value, prefix + "aln", bias=prefix + "ao.b")
        inner = self.linear(value, layers.FEED_IN, layer, with_bias=True)
        inner = graph.node("Gelu", [inner], CONTRIB)
        outer = self.linear(inner, layers.FEED_OUT, layer, with_bias=False)
        output = "last_hidden_state" if layer == self.weights.layers - 1 else None
        return self.norm(outer, value, prefix + "oln", bias=prefix + "fo.b", output=output)

    def pool(self, hidden: str) -> None:
        """Mean over the mask, length one. The mean's divisor cancels, so the sum is taken."""
        graph = self.graph
        mask = graph.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        one = graph.constant("one", np.array([1], np.int64))
        mask = graph.node("Unsqueeze", [mask, one])
        total = graph.node("Squeeze", [graph.node("MatMul", [mask, hidden]), one])
        graph.node("LpNormalization", [total], output="sentence_embedding", axis=-1, p=2)

    def build(self, name: str, kept: npt.NDArray[np.int64]) -> onnx.ModelProto:
        """The whole model, its constants still inside."""
        graph, hidden = self.graph, self.weights.hidden
        value = self.embeddings(kept)
        mask = graph.node("Cast", ["attention_mask"], to=TensorProto.INT32)
        graph.constant("thirds", np.array([hidden] * 3, np.int64))
        for layer in range(self.weights.layers):
            value = self.block(value, mask, layer)
        self.pool(value)
        proto = helper.make_graph(
            graph.nodes,
            name,
            [
                helper.make_tensor_value_info(field, TensorProto.INT64, ["batch", "seq"])
                for field in ("input_ids", "attention_mask")
            ],
            [
                helper.make_tensor_value_info(
                    "last_hidden_state", TensorProto.FLOAT, ["batch", "seq", hidden]
                ),
                helper.make_tensor_value_info(
                    "sentence_embedding", TensorProto.FLOAT, ["batch", hidden]
                ),
            ],
            graph.constants,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(proto, opset_imports=opsets, producer_name="summer_memory")
        model.ir_version = IR_VERSION
        return model


def build(
    weights: Weights,
    kept: npt.NDArray[np.int64],
    arithmetic: Arithmetic,
    factors: dict[str, Float32] | None = None,
) -> onnx.ModelProto:
    """The graph over the kept rows of the vocabulary; `int8` needs the factors of `smooth`."""
    if arithmetic is Arithmetic.INT8 and factors is None:
        raise ValueError("int8 needs smoothing factors")
    name = f"multilingual-e5-small-{arithmetic.value}"
    return Encoder(weights, arithmetic, factors or {}).build(name, kept)


def serialise(model: onnx.ModelProto, location: str) -> tuple[bytes, bytes]:
    """The bytes of the graph file and of the data file it refers to as `location`.

    Written here and not by `onnx.save` so that offsets do not depend on that package's version.
    Changes `model`.
    """
    data = bytearray()
    for tensor in model.graph.initializer:
        content = tensor.raw_data
        if len(content) < EXTERNAL_BYTES:
            continue
        data.extend(bytes(-len(data) % EXTERNAL_ALIGNMENT))
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", len(data)), ("length", len(content))):
            tensor.external_data.add(key=key, value=str(value))
        data.extend(content)
        tensor.ClearField("raw_data")
    return model.SerializeToString(deterministic=True), bytes(data)
