"""The faults: each harms a running server and returns a short text about its clients."""

from . import workers, scripts, clients, size, life_cycle
from .registry import CATALOGUE
