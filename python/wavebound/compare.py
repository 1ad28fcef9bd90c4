"""The same launch under several mechanisms and machines."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, Sequence

from .display import Svg, table
from .launch import Job


class Comparison:
    """Rows of a comparison; ``frame()`` is a pandas data frame, notebooks show a table."""

    def __init__(self, rows: List["dict[str, Any]"]) -> None:
        self.rows = rows

    def frame(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def bars(self) -> Svg:
        """Cycles as bars."""
        most = max((row["cycles"] for row in self.rows), default=1)
        parts, y = [], 0
        for row in self.rows:
            label = " ".join(f"{v}" for k, v in row.items() if k not in ("cycles", "speed_up", "splits"))
            width = 400 * row["cycles"] / most
            parts.append(f'<text x="0" y="{y + 14}" font-size="12" font-family="sans-serif">{label}</text>')
            parts.append(f'<rect x="160" y="{y + 3}" width="{width:.1f}" height="14" fill="#4878a8"/>')
            parts.append(
                f'<text x="{164 + width:.1f}" y="{y + 14}" font-size="12" font-family="sans-serif">{row["cycles"]}</text>'
            )
            y += 22
        return Svg(f'<svg xmlns="http://www.w3.org/2000/svg" width="660" height="{y}">{"".join(parts)}</svg>')

    def _repr_html_(self) -> str:
        head = list(self.rows[0]) if self.rows else []
        return table(head, [[row[h] for h in head] for row in self.rows])

    def __repr__(self) -> str:
        return f"<comparison of {len(self.rows)} runs>"


def compare(
    job: Job,
    *,
    mechanisms: Sequence[str] = ("none", "thesis", "pws", "dws"),
    contexts: Iterable[int] = (1,),
    fields: Mapping[str, Sequence[Any]] = {},
) -> Comparison:
    """Runs a launch under every mechanism, number of contexts and combination of machine fields. All results must be equal.

    Mechanisms that split at marks get every branch marked. ``speed_up`` is against the first row.
    """
    from itertools import product

    rows: List["dict[str, Any]"] = []
    results = None
    for values in product(*fields.values()):
        changed = dict(zip(fields, values))
        for mechanism in mechanisms:
            splits = mechanism not in ("none", "exec-mask")
            for count in contexts if splits else [0]:
                marks = "all" if mechanism in ("pws", "thesis") else None
                here = job.on(mechanism=mechanism, contexts=count, split=marks, fields=changed)
                run = here.run()
                now = {name: run[name].tobytes() for name in here.buffers}
                if results is not None and now != results:
                    raise AssertionError(f"{mechanism} with {count} contexts computes something else: please report this")
                results = now
                first = rows[0]["cycles"] if rows else run.cycles
                rows.append(
                    dict(changed, mechanism=mechanism, contexts=count, cycles=run.cycles)
                    | dict(splits=run.stats["splits"], speed_up=first / run.cycles)
                )
    return Comparison(rows)
