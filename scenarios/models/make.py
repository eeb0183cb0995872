"""Write the Chakra traces of this folder: a step of three models on eight GPUs.

    python scenarios/models/make.py

Sizes follow from the published shapes of the models. Times are floating-point operations divided by
what a GPU does in a second: its data sheet's peak times a utilisation. README.md has the sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xoff.torture import chakra

RANKS = 8
A100_FLOPS, H100_FLOPS = 312e12, 989e12
"""Peak of 16-bit matrix operations without sparsity (NVIDIA, data sheets)."""
UTILISATION = 0.4
"""Assumed. Chowdhery et al., "PaLM", 2022, Table 3, has 21 to 46 % for large models."""
BACKWARD = 2
"""A backward pass has twice the operations of a forward pass: gradients of inputs and weights."""


class Steps:
    """The nodes of one rank; all ranks do the same."""

    def __init__(self, flops: float) -> None:
        """Compute at this many floating-point operations a second."""
        self.nodes: list[bytes] = []
        self.flops = flops * UTILISATION

    def compute(self, name: str, operations: float, *after: int) -> int:
        """Add a computation on the GPU. Returns its number."""
        micros = round(operations / self.flops * 1e6)
        return self._add(chakra.COMP, name, after, micros, {})

    def together(self, kind: int, name: str, size: int, *after: int) -> int:
        """Add a collective operation of `size` bytes, each rank's input. Returns its number."""
        return self._add(chakra.COLLECTIVE, name, after, 0, {"comm_type": kind, "comm_size": size})

    def _add(
        self, kind: int, name: str, after: tuple[int, ...], micros: int, more: dict[str, int]
    ) -> int:
        number = len(self.nodes) + 1
        self.nodes.append(chakra.node(number, kind, name, after, micros, more))
        return number


def resnet50(images: int = 256, bucket: int = 25 << 20, first_bucket: int = 1 << 20) -> Steps:
    """Data parallelism: gradients in buckets, all-reduced while the backward pass goes on.

    `images` of 224 x 224 on each GPU. Buckets are those of PyTorch's DistributedDataParallel: 25
    MiB, the first one 1 MiB (Li et al., "PyTorch Distributed", VLDB 2020, §3.2.3).
    """
    steps = Steps(A100_FLOPS)
    layers = list(_resnet50())
    done = 0
    for name, _, macs in layers:
        done = steps.compute(f"{name}, forward", 2 * macs * images, *([done] if done else []))
    waiting, last, limit = 0, 0, first_bucket
    for name, parameters, macs in reversed(layers):
        done = steps.compute(f"{name}, backward", BACKWARD * 2 * macs * images, done)
        waiting += 4 * parameters
        if waiting >= limit or name == layers[0][0]:
            # One stream: operations of a communicator go one after another.
            after = (done, last) if last else (done,)
            last = steps.together(chakra.ALL_REDUCE, f"gradients to {name}", waiting, *after)
            waiting, limit = 0, bucket
    return steps


def _resnet50() -> Iterator[tuple[str, int, int]]:
    """Yield name, parameters and multiply-adds per image of each part (He et al., CVPR 2016)."""

    def convolution(inputs: int, outputs: int, kernel: int, side: int) -> tuple[int, int]:
        """Return those of a convolution with batch normalisation, for an output of `side`^2."""
        weights = inputs * outputs * kernel**2
        return weights + 2 * outputs, weights * side**2

    yield ("conv1", *convolution(3, 64, 7, 112))
    inputs = 64
    for stage, (width, blocks, side) in enumerate(
        ((64, 3, 56), (128, 4, 28), (256, 6, 14), (512, 3, 7)), 2
    ):
        for block in range(blocks):
            # The 3 x 3 convolution of a stage's first block has the stride (torchvision's v1.5).
            before = side * 2 if block == 0 and stage > 2 else side
            parts = [
                convolution(inputs, width, 1, before),
                convolution(width, width, 3, side),
                convolution(width, 4 * width, 1, side),
            ]
            if block == 0:
                parts.append(convolution(inputs, 4 * width, 1, side))
            inputs = 4 * width
            parameters, macs = (sum(column) for column in zip(*parts, strict=True))
            yield f"conv{stage}_{block + 1}", parameters, macs
    yield "fc", 2048 * 1000 + 1000, 2048 * 1000


def llama_1b(tokens: int = 16_384, length: int = 4096) -> Steps:
    """Fully sharded data parallelism: each layer is gathered before it is used.

    `tokens` on each GPU, in sequences of this length. A layer is gathered while the one before it
    computes, forward and again backward, and its gradients are then reduced and scattered (Zhao et
    al., "PyTorch FSDP", VLDB 2023, §3.2 and §3.3).
    """
    steps = Steps(H100_FLOPS)
    layers, hidden, feed_forward, of_keys = 16, 2048, 8192, 512
    parameters = 2 * hidden**2 + 2 * hidden * of_keys + 3 * hidden * feed_forward + 2 * hidden
    shard = 2 * parameters // RANKS
    # Two operations a weight; scores and values of attention, the causal half.
    operations = tokens * (2 * parameters + 4 * length * hidden / 2)
    gathered = computed = before = 0
    numbers = list(range(1, layers + 1))
    for layer in numbers:
        # At most two layers are whole at a time.
        gathered = steps.together(
            chakra.ALL_GATHER, f"layer {layer}", shard, *filter(None, (gathered, before))
        )
        before = computed
        computed = steps.compute(
            f"layer {layer}, forward", operations, *filter(None, (gathered, computed))
        )
    reduced = 0
    for layer in reversed(numbers):
        after = [gathered, before, reduced]
        gathered = steps.together(
            chakra.ALL_GATHER, f"layer {layer} again", shard, *sorted({*filter(None, after)})
        )
        before = computed
        computed = steps.compute(
            f"layer {layer}, backward", BACKWARD * operations, gathered, computed
        )
        reduced = steps.together(
            chakra.REDUCE_SCATTER, f"gradients of layer {layer}", 2 * parameters, computed
        )
    return steps


def mixtral(tokens: int = 2048) -> Steps:
    """Expert parallelism: a forward pass with an expert of each layer on each GPU.

    Each of the `tokens` of a GPU goes to two of eight experts and comes back (Jiang et al.,
    "Mixtral of Experts", 2024, Table 1 and §2.1).
    """
    steps = Steps(H100_FLOPS)
    layers, hidden, expert, of_keys, chosen = 32, 4096, 14_336, 1024, 2
    attention = 2 * hidden**2 + 2 * hidden * of_keys
    sent = chosen * tokens * hidden * 2
    done = 0
    for layer in range(1, layers + 1):
        operations = tokens * (2 * attention + 4 * tokens * hidden / 2)
        done = steps.compute(f"attention {layer}", operations, *filter(None, (done,)))
        done = steps.together(chakra.ALL_TO_ALL, f"tokens to experts {layer}", sent, done)
        done = steps.compute(f"experts {layer}", chosen * tokens * 2 * 3 * hidden * expert, done)
        done = steps.together(chakra.ALL_TO_ALL, f"tokens back {layer}", sent, done)
    return steps


MODELS = {"resnet50": resnet50, "llama-1b": llama_1b, "mixtral": mixtral}


def files() -> Iterator[tuple[str, bytes]]:
    """Yield name and contents of each file."""
    for name, model in MODELS.items():
        content = chakra.file(model().nodes)
        for rank in range(RANKS):
            yield f"{name}.{rank}.et", content


if __name__ == "__main__":
    for name, content in files():
        (Path(__file__).parent / name).write_bytes(content)
