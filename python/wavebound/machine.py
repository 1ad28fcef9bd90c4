"""Machines as objects."""

from __future__ import annotations

import json
from typing import Any, Iterator, List, Mapping, Tuple, Union

from . import _wavebound as native
from .display import table


def presets() -> List[str]:
    """Names of the machines that come with Wavebound."""
    return native.presets()


def fields_of(fields: Mapping[str, Any]) -> List[str]:
    """Fields as the command line writes them: ``core.waves=4``."""

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value)

    return [f"{name.replace('__', '.')}={text(value)}" for name, value in fields.items()]


class Machine:
    """A machine: the name of a preset or of a machine file. Machines do not change; :meth:`set` returns another one.

    >>> import wavebound as wb
    >>> m = wb.Machine("gcn3").set({"core.waves": 8}, cores=2)
    >>> m["core.waves"], m["cores"]
    (8, 2)
    """

    def __init__(self, name: str = "gcn3") -> None:
        self.native = native.Machine.load(name)

    @classmethod
    def _of(cls, inner: "native.Machine") -> "Machine":
        machine = cls.__new__(cls)
        machine.native = inner
        return machine

    @property
    def name(self) -> str:
        return self.native.name

    def set(self, fields: Mapping[str, Any] = {}, **named: Any) -> "Machine":
        """The same machine with fields changed; in names of arguments two underscores stand for a dot."""
        return Machine._of(self.native.set(fields_of({**fields, **named})))

    def to_dict(self) -> "dict[str, Any]":
        fields: "dict[str, Any]" = json.loads(self.native.to_json())
        return fields

    def to_toml(self) -> str:
        return self.native.to_toml()

    def __getitem__(self, field: str) -> Any:
        value: Any = self.to_dict()
        for part in field.split("."):
            if not isinstance(value, dict) or part not in value:
                raise KeyError(field)
            value = value[part]
        return value

    def flat(self) -> Iterator[Tuple[str, Any]]:
        """Every field with its value."""

        def walk(prefix: str, value: Any) -> Iterator[Tuple[str, Any]]:
            if isinstance(value, dict):
                for name, inner in value.items():
                    yield from walk(f"{prefix}.{name}" if prefix else name, inner)
            else:
                yield prefix, value

        return walk("", self.to_dict())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __reduce__(self) -> Any:
        return _from_toml, (self.to_toml(),)

    def __repr__(self) -> str:
        return f"<machine {self.name}>"

    def _repr_html_(self) -> str:
        return table(["field", "value"], list(self.flat()), f"machine {self.name}")


def _from_toml(text: str) -> Machine:
    return Machine._of(native.Machine.from_toml(text))


MachineLike = Union[Machine, str, None]


def machine_of(given: MachineLike) -> "Machine | None":
    return Machine(given) if isinstance(given, str) else given
