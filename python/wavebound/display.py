"""What a notebook shows: pictures as SVG, results as small tables."""

from __future__ import annotations

import html
from os import PathLike
from typing import Any, Iterable, Sequence, Union


class Svg:
    """A picture. Notebooks draw it; :meth:`save` writes it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def save(self, path: Union[str, "PathLike[str]"]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def _repr_svg_(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<picture, {len(self.text)} bytes of SVG>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """An HTML table; numbers to the right."""

    def cell(value: Any) -> str:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = f"{value:,}" if isinstance(value, int) and number else f"{value:.3g}" if number else str(value)
        align = "right" if number else "left"
        return f'<td style="text-align:{align}">{html.escape(text)}</td>'

    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    top = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    return f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
