"""Launches that can run, and what comes of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _wavebound as native
from .display import Svg, table
from .machine import Machine, MachineLike, fields_of, machine_of

if TYPE_CHECKING:
    from .bound import Bound
    from .program import Program

#: Our names of types, by NumPy's.
TYPES = {
    "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32", "int32": "i32",
    "uint64": "u64", "int64": "i64", "float16": "f16", "float32": "f32", "float64": "f64",
}  # fmt: skip
DTYPES = {ours: np.dtype(theirs) for theirs, ours in TYPES.items()}


@dataclass(frozen=True)
class Local:
    """So many bytes of local memory, as an argument."""

    bytes: int


Argument = Union[np.ndarray, np.generic, int, float, str, Local]


def _argument(given: Argument, parameter: str) -> Any:
    if isinstance(given, str):
        return given
    if isinstance(given, Local):
        return given.bytes
    if isinstance(given, (np.ndarray, np.generic)):
        name = TYPES.get(given.dtype.name)
        if name is None or given.dtype.byteorder == ">":
            raise TypeError(f"{parameter}: no buffer holds {given.dtype}; use one of {', '.join(TYPES)}")
        if isinstance(given, np.generic):
            return (name, list(given.tobytes()))
        flat = np.ascontiguousarray(given).reshape(-1)
        return (name, list(given.shape), flat.view(np.uint8))
    if isinstance(given, bool):
        raise TypeError(f"{parameter}: a truth value has no size; use np.uint32({int(given)}), for example")
    if isinstance(given, int):
        return f"i32:{given}" if given < 0 else f"u32:{given}"
    if isinstance(given, float):
        return f"f32:{given!r}"
    raise TypeError(f"{parameter}: {type(given).__name__} is no argument of a kernel")


def prepare(program: "Program", recipe: Mapping[str, Any]) -> "Job":
    sets: Dict[str, Any] = {}
    if recipe["mechanism"] is not None:
        sets["divergence.mechanism"] = recipe["mechanism"]
    if recipe["contexts"] is not None:
        sets["split.contexts"] = recipe["contexts"]
    split = recipe["split"]
    everywhere = split == "all"
    places = [] if everywhere or split is None else [split] if isinstance(split, str) else list(split)
    machine = machine_of(recipe["machine"])
    inner = native.Job.prepare(
        program.native,
        recipe["kernel"],
        None if machine is None else machine.native,
        fields_of(sets) + list(recipe["sets"]),
        list(recipe["grid"]),
        list(recipe["group"]),
        [_argument(a, f"argument {i}") for i, a in enumerate(recipe["args"])],
        list(recipe["views"]),
        everywhere,
        places,
        recipe["mechanism"] == "thesis",
        recipe["registers"],
        recipe["dynamic_lds"],
    )
    return Job(program, recipe, inner)


class Job:
    """A launch. It can run as often as you like and always does the same."""

    def __init__(self, program: "Program", recipe: Mapping[str, Any], inner: "native.Job") -> None:
        self.program = program
        self.recipe = recipe
        self.native = inner

    @property
    def machine(self) -> Machine:
        return Machine._of(self.native.machine)

    @property
    def buffers(self) -> "dict[str, tuple[np.dtype[Any], int]]":
        """Types and lengths of the buffers."""
        sizes = ((name, DTYPES.get(kind, np.dtype(np.uint8)), size) for name, kind, size in self.native.buffers)
        return {name: (dtype, size // dtype.itemsize) for name, dtype, size in sizes}

    def on(
        self,
        machine: MachineLike = None,
        *,
        mechanism: "str | None" = None,
        contexts: "int | None" = None,
        split: "str | Sequence[str] | None" = None,
        fields: Mapping[str, Any] = {},
    ) -> "Job":
        """The same launch on another machine, with another mechanism, other marks or other fields."""
        changed = dict(machine=machine, mechanism=mechanism, contexts=contexts, split=split)
        recipe = {**self.recipe, **{k: v for k, v in changed.items() if v is not None}}
        recipe["sets"] = tuple(self.recipe["sets"]) + tuple(fields_of(fields))
        return prepare(self.program, recipe)

    def with_args(self, *args: Argument) -> "Job":
        """The same launch with other arguments."""
        return prepare(self.program, {**self.recipe, "args": args})

    def run(self, *, timed: bool = True, statistics: bool = True) -> "Run":
        """Runs the launch: cycle by cycle, or only for its results (``timed=False``, faster)."""
        return Run(self, self.native.run(timed, statistics), timed)

    def picture(self, first: int = 0, last: Optional[int] = None) -> Svg:
        """Which lanes were on in which cycle."""
        return Svg(self.native.picture(first, last))

    def events(self, *, timed: bool = True, most: int = 10_000_000) -> Any:
        """Everything that happens in a run, as a ``pyarrow.Table``; ``.to_pandas()`` makes a data frame of it.

        ``value`` is the lanes of a start, split or mask, the cycles of a stall or of a busy unit, the lines of an access.
        """
        import pyarrow as pa

        cycle, core, wave, path, pc, mask, kind, value, left_out = self.native.events(timed, most)
        names = pa.DictionaryArray.from_arrays(pa.array(kind), pa.array(native.KINDS))
        columns = dict(cycle=cycle, core=core, wave=wave, path=path, pc=pc, mask=mask, kind=names, value=value)
        made = pa.table(columns)
        return made.replace_schema_metadata({"left_out": str(left_out)})

    def bound(self, **options: Any) -> "Bound":
        """How long it can take in the worst case: see :func:`wavebound.bound`."""
        from .bound import bound

        return bound([self], **options)

    def __repr__(self) -> str:
        kernel = self.recipe["kernel"] or "a kernel"
        return f"<launch of {kernel} on {self.machine.name}>"


class Run:
    """What came of a run. ``run["x"]`` is a buffer after it."""

    def __init__(self, job: Job, inner: "native.Run", timed: bool) -> None:
        self.job = job
        self.native = inner
        self.timed = timed
        (self.cycles, self.wave_instructions, self.lane_instructions, self.nops, self.waves) = inner.totals
        self._stats: "Dict[str, Any] | None" = None

    @property
    def console(self) -> str:
        """What the kernel printed."""
        return self.native.console

    @property
    def stats(self) -> "dict[str, Any]":
        """Statistics as in ``wavebound run --json``."""
        if self._stats is None:
            self._stats = json.loads(self.native.stats or "{}")
        return self._stats

    def instructions(self) -> Any:
        """Statistics of every instruction, as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.stats.get("pcs", []))

    def branches(self) -> Any:
        """Statistics of every branch, as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.stats.get("branches", []))

    def __getitem__(self, name: str) -> "np.ndarray[Any, Any]":
        kind, data = self.native.buffer(self.job.native, name)
        return data.view(DTYPES.get(kind, np.dtype(np.uint8)))

    def picture(self, first: int = 0, last: Optional[int] = None) -> Svg:
        return self.job.picture(first, last)

    def events(self) -> Any:
        return self.job.events(timed=self.timed)

    def _rows(self) -> List[Any]:
        unit = "cycles" if self.timed else "wave-instructions (untimed)"
        rows: List[Any] = [(unit, self.cycles), ("wave-instructions", self.wave_instructions), ("waves", self.waves)]
        if self.native.stats:
            rows += [("lanes in use", self.stats["lane_utilisation"]), ("splits", self.stats["splits"])]
            rows += [(f"stalled: {k}", v) for k, v in self.stats["stall_cycles"].items() if v]
        return rows

    def _repr_html_(self) -> str:
        return table(["", ""], self._rows(), repr(self.job)[1:-1])

    def __repr__(self) -> str:
        unit = "cycles" if self.timed else "wave-instructions"
        return f"<run: {self.cycles} {unit}, {self.waves} waves>"
