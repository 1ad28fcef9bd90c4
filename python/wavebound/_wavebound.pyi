"""The extension module: see the classes of the package, which are made for people."""

from os import PathLike
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

__version__: str
KINDS: List[str]

class WaveboundError(Exception): ...
class MachineError(WaveboundError): ...
class JobError(WaveboundError): ...
class BoundError(WaveboundError): ...

class Machine:
    @staticmethod
    def load(name: str) -> Machine: ...
    @staticmethod
    def from_toml(text: str) -> Machine: ...
    def set(self, fields: Sequence[str]) -> Machine: ...
    @property
    def name(self) -> str: ...
    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...

def presets() -> List[str]: ...

class Program:
    @staticmethod
    def open(
        path: Union[str, PathLike[str]],
        level: int,
        defines: Sequence[str],
        includes: Sequence[str],
        options: Sequence[str],
    ) -> Program: ...
    @staticmethod
    def from_source(isa: str, name: str, text: str) -> Program: ...
    @property
    def isa(self) -> str: ...
    @property
    def kernels(self) -> List[str]: ...
    def graph(self, kernel: str) -> str: ...

class Job:
    @staticmethod
    def prepare(
        program: Program,
        kernel: str,
        machine: Optional[Machine],
        sets: Sequence[str],
        grid: Sequence[int],
        group: Sequence[int],
        args: Sequence[Any],
        views: Sequence[str],
        split_all: bool,
        split_at: Sequence[str],
        thesis_marks: bool,
        registers: int,
        dynamic_lds: int,
    ) -> Job: ...
    @property
    def machine(self) -> Machine: ...
    @property
    def buffers(self) -> List[Tuple[str, str, int]]: ...
    def run(self, timed: bool, statistics: bool) -> Run: ...
    def picture(self, first: int, last: Optional[int]) -> str: ...
    def events(self, timed: bool, most: int) -> Tuple[Any, ...]: ...

class Run:
    @property
    def totals(self) -> Tuple[int, int, int, int, int]: ...
    @property
    def console(self) -> str: ...
    @property
    def stats(self) -> Optional[str]: ...
    def buffer(self, job: Job, name: str) -> Tuple[str, npt.NDArray[np.uint8]]: ...

def bound(
    jobs: Sequence[Job],
    proved: bool,
    measured: bool,
    facts: Sequence[Tuple[str, str]],
    fixed: Sequence[str],
    facts_from_trace: bool,
) -> List[Tuple[str, str]]: ...

def sweep(
    plan: PathLike[str],
    store: PathLike[str],
    out: PathLike[str],
    retry: bool,
    jobs: int,
    seconds: Optional[float],
    memory: Optional[int],
    worker: Tuple[str, Sequence[str]],
) -> Tuple[int, int, int, int, bool, str]: ...
def sweep_worker(memory: Optional[int]) -> None: ...
