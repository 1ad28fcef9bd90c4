"""Sweeps: many points, each run once, ever (docs/sweeps.md)."""

from __future__ import annotations

import json
import os
import sys
from os import PathLike
from pathlib import Path
from typing import Any, Optional, Union

from . import _wavebound as native
from .display import table

AnyPath = Union[str, "PathLike[str]"]


class Sweep:
    """What a sweep did, and where its data set is."""

    def __init__(self, folder: Path, points: int, results: int, known: int, left: int, details: "dict[str, Any]") -> None:
        self.folder = folder
        self.points = points
        self.results = results
        self.known = known
        self.left = left
        self.details = details

    def table(self) -> Any:
        """All points with their coordinates and measures, as a ``pyarrow.Table``."""
        import pyarrow.dataset as ds

        return ds.dataset(self.folder / "data", format="parquet", partitioning="hive").to_table()

    def frame(self) -> Any:
        """The same as a pandas data frame."""
        return self.table().to_pandas()

    def _repr_html_(self) -> str:
        rows = [("points", self.points), ("results", self.results), ("known before", self.known), ("left", self.left)]
        return table(["", ""], rows, str(self.folder))

    def __repr__(self) -> str:
        return f"<sweep of {self.points} points in {self.folder}>"


def sweep(
    plan: AnyPath,
    *,
    store: AnyPath = "out/store",
    out: Optional[AnyPath] = None,
    jobs: Optional[int] = None,
    point_seconds: Optional[float] = None,
    point_memory: Optional[int] = None,
    retry: bool = False,
) -> Sweep:
    """Runs the points of a plan that are not in the store yet, on this computer, and writes the data set.

    The store is that of the command ``wavebound sweep``: results of either are known to both.
    """
    folder = Path(out) if out is not None else Path("out/sweep") / Path(plan).stem
    worker = (sys.executable, ["-m", "wavebound._worker"])
    count = jobs or os.cpu_count() or 1
    points, results, known, left, _, details = native.sweep(
        Path(plan), Path(store), folder, retry, count, point_seconds, point_memory, worker
    )
    return Sweep(folder, points, results, known, left, json.loads(details))
