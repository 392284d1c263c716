"""The class of faults, and their list in the order of import."""

from dataclasses import dataclass, field
from typing import Callable


@dataclass(frozen=True)
class Fault:
    name: str
    title: str
    wanted: str
    happen: Callable  # server -> str
    conditions: dict = field(default_factory=dict)  # arguments of servers.running


CATALOGUE = []


def fault(name, title, wanted, **conditions):
    def keep(happen):
        CATALOGUE.append(Fault(name, title, wanted, happen, conditions))
        return happen
    return keep
