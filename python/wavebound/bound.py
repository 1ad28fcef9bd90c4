"""Bounds: how long a kernel can take."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any, List, Mapping, Sequence, Union

from . import _wavebound as native
from .display import table
from .launch import Job


class Bound:
    """The bound of a kernel and everything it rests on. ``details`` is what ``wavebound wcet --json`` prints."""

    def __init__(self, details: Mapping[str, Any], certificate: str) -> None:
        self.details = details
        self.certificate = certificate

    @property
    def kernel(self) -> str:
        return str(self.details["kernel"])

    @property
    def cycles(self) -> int:
        return int(self.details["bound"])

    @property
    def observed(self) -> int:
        """The longest run that was seen; 0 if nothing ran."""
        return int(self.details["observed"])

    @property
    def status(self) -> str:
        """``exact``, ``proved``, or what the measured times are worth."""
        return str(self.details["status"])

    @property
    def assumptions(self) -> List[str]:
        return list(self.details["assumptions"])

    @property
    def warnings(self) -> List[str]:
        return list(self.details["warnings"])

    def save_certificate(self, path: Union[str, "PathLike[str]"]) -> None:
        """Writes what ``wavebound check-bound`` checks."""
        Path(path).write_text(self.certificate, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<bound of {self.kernel}: {self.cycles} cycles, {self.status}>"

    def _repr_html_(self) -> str:
        rows: List[Any] = [("bound, cycles", self.cycles), ("status", self.status)]
        if self.observed:
            rows += [("longest run", self.observed), ("bound / longest run", self.cycles / self.observed)]
        rows += [("assumes", text) for text in self.assumptions] + [("warning", text) for text in self.warnings]
        return table(["", ""], rows, f"bound of {self.kernel}")


def bound(
    jobs: Sequence[Job],
    *,
    proved: bool = False,
    measured: bool = False,
    facts: Sequence[Union[str, "PathLike[str]"]] = (),
    fixed: Sequence[str] = (),
    facts_from_trace: bool = False,
) -> Bound:
    """Bounds a kernel from launches with different inputs: exact or proved where possible, else by measured times.

    ``proved=True`` measures nothing and raises :class:`BoundError` where there is no proof; ``measured=True`` uses measured
    times only. ``facts`` are files of flow facts, ``fixed`` buffers whose contents are part of the launch.
    """
    if proved and measured:
        raise ValueError("a bound is proved or measured, not both")
    texts = [(str(f), Path(f).read_text(encoding="utf-8")) for f in facts]
    found = native.bound([j.native for j in jobs], proved, measured, texts, list(fixed), facts_from_trace)
    bounds = [Bound(json.loads(details), certificate) for details, certificate in found]
    if len(bounds) != 1:
        raise ValueError(f"the launches are of {len(bounds)} kernels; bound them one by one")
    return bounds[0]
