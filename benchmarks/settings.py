"""What a run may vary. Both sides of every comparison get the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    workers: int = 4
    connections: int = 32
    threads: int = 1  # of a front; processes of nginx
    rounds: int = 3
    seconds: int = 4
    warm_up_seconds: int = 1
    fairness_seconds: int = 3
    work_ms: float = 1.0  # of Perl in /work
    slow_clients: int = 200
    slow_pairs: int = 3  # a round: a few per cent are looked for where one load differs from the next by ten
    ready_timeout: int = 20

    @classmethod
    def quick(cls):
        return cls(rounds=1, seconds=1, slow_pairs=1)
