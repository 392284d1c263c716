"""The faults: each does harm to a running server and says in a few words what became of its clients."""

from . import workers, scripts, clients, size, life_cycle
from .registry import CATALOGUE
