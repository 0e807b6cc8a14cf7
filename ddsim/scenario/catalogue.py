"""Chips and models known by name, each with the source of its figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chip:
    """A chip: peak dense bf16 compute in FLOP/s, memory in bytes."""

    name: str
    flops: float
    memory: float
    source: str


@dataclass(frozen=True, slots=True)
class ModelSize:
    """A model: parameters and transformer layers."""

    name: str
    parameters: float
    layers: int
    source: str


_TPU = "Google Cloud TPU documentation, system architecture"
_CHIPS = (
    Chip("v4", 275e12, 32e9, f"{_TPU}, TPU v4"),
    Chip("v5e", 197e12, 16e9, f"{_TPU}, TPU v5e"),
    Chip("v5p", 459e12, 95e9, f"{_TPU}, TPU v5p"),
    Chip("v6e", 918e12, 32e9, f"{_TPU}, TPU v6e (Trillium)"),
    Chip("A100", 312e12, 80e9, "NVIDIA A100 80GB data sheet, dense bf16"),
    Chip("H100", 989e12, 80e9, "NVIDIA H100 SXM data sheet, dense bf16"),
    Chip("H200", 989e12, 141e9, "NVIDIA H200 SXM data sheet, dense bf16"),
    Chip("B200", 2250e12, 180e9, "NVIDIA DGX B200 data sheet, dense bf16, an eighth of the system"),
)
_STREAMING = "arXiv 2501.18512 Table 4"
_MODELS = (
    ModelSize("1B", 1e9, 24, _STREAMING),
    ModelSize("10B", 10e9, 48, _STREAMING),
    ModelSize("100B", 100e9, 108, _STREAMING),
    ModelSize("12B", 12e9, 48, "size: DeepMind blog on Decoupled DiLoCo; layers assumed"),
    ModelSize("gemma3_12b", 12e9, 48, "arXiv 2503.19786; layers from the published configuration"),
    ModelSize("intellect1", 10e9, 42, "arXiv 2412.01152"),
    ModelSize("llama3_8b", 8e9, 32, "arXiv 2407.21783 Table 3"),
    ModelSize("llama3_70b", 70e9, 80, "arXiv 2407.21783 Table 3"),
    ModelSize("llama3_405b", 405e9, 126, "arXiv 2407.21783 Table 3"),
)
CHIPS: dict[str, Chip] = {chip.name: chip for chip in _CHIPS}
"""Chips by name."""
MODELS: dict[str, ModelSize] = {model.name: model for model in _MODELS}
"""Models by name."""
