"""Programs: compiled, loaded or assembled."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any, List, Sequence, Tuple, Union

from . import _wavebound as native
from .launch import Argument, Job, prepare
from .machine import MachineLike

Size = Union[int, Sequence[int]]


class Program:
    """A program of any instruction set.

    ``Program("kernel.cl")`` compiles with the system's clang; code objects, executables and assembly are read as they are.
    """

    def __init__(
        self,
        path: Union[str, "PathLike[str]"],
        *,
        level: int = 2,
        defines: Sequence[str] = (),
        includes: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> None:
        self.native = native.Program.open(path, level, list(defines), list(includes), list(options))

    @classmethod
    def from_source(cls, isa: str, text: str, name: str = "program.s") -> "Program":
        """Assembly: ``gcn3``, ``harp``, ``guppy``. What is wrong in it shows at launch, with its line."""
        program = cls.__new__(cls)
        program.native = native.Program.from_source(isa, name, text)
        return program

    @property
    def isa(self) -> str:
        return self.native.isa

    @property
    def kernels(self) -> List[str]:
        return self.native.kernels

    def graph(self, kernel: str = "") -> "dict[str, Any]":
        """Blocks, edges, loops and divergent regions, as ``wavebound cfg --json`` prints them."""
        graph: "dict[str, Any]" = json.loads(self.native.graph(kernel))
        return graph

    def launch(
        self,
        kernel: str = "",
        *args: Argument,
        grid: Size = 0,
        group: Size = 0,
        machine: MachineLike = None,
        mechanism: "str | None" = None,
        contexts: "int | None" = None,
        split: "str | Sequence[str] | None" = None,
        views: Sequence[str] = (),
        registers: int = 0,
        dynamic_lds: int = 0,
    ) -> Job:
        """A launch that can run. Arguments are NumPy arrays (buffers), NumPy or Python numbers, :class:`Local`, or text as
        on the command line (``"buf:u32:256:random=7"``).

        Python numbers are of 32 bits (u32, negative ones i32, f32): use NumPy's for others. ``split`` is ``"all"`` or places (addresses, ``FILE:LINE``).
        """
        return prepare(
            self,
            dict(
                kernel=kernel,
                args=args,
                grid=three(grid),
                group=three(group),
                machine=machine,
                mechanism=mechanism,
                contexts=contexts,
                split=split,
                views=tuple(views),
                registers=registers,
                dynamic_lds=dynamic_lds,
                sets=(),
            ),
        )

    def __repr__(self) -> str:
        names = ", ".join(self.kernels)
        return f"<{self.isa} program{': ' + names if names else ''}>"


def three(size: Size) -> Tuple[int, int, int]:
    sizes = (size,) if isinstance(size, int) else tuple(int(s) for s in size)
    if len(sizes) > 3 or not sizes:
        raise ValueError(f"a size has one to three dimensions, not {len(sizes)}")
    rest = 1 if sizes[0] else 0
    return tuple(sizes) + (rest,) * (3 - len(sizes))  # type: ignore[return-value]
