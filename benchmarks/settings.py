"""Settings of a run, the same for all servers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    workers: int = 4
    connections: int = 32
    threads: int = 1  # threads of the front; worker processes of nginx
    rounds: int = 3
    seconds: int = 4
    warm_up_seconds: int = 1
    fairness_seconds: int = 3
    work_ms: float = 1.0  # computing time of Perl in /work, in ms
    slow_clients: int = 200
    slow_pairs: int = 3  # per round: loads vary by ten per cent, and smaller differences must be visible
    ready_timeout: int = 20

    @classmethod
    def quick(cls):
        return cls(rounds=1, seconds=1, slow_pairs=1)
