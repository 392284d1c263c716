"""Figures from the results: medians over the rounds, and ratios to the peer of each round."""

from statistics import mean, median


class Figures:
    def __init__(self, results):
        self.scenarios = results["scenarios"]

    def of(self, scenario, server):
        return self.scenarios.get(scenario, {}).get(server, {"absent": "not measured"})

    def absent(self, scenario, *servers):
        """The reason why a figure about these servers is missing."""
        reasons = {server: self.of(scenario, server).get("absent") for server in servers}
        return "; ".join(f"{server}: {reason}" for server, reason in reasons.items() if reason)

    def values(self, scenario, server, mode, key):
        return [each[key] for each in self.of(scenario, server).get(mode, [])]

    def median(self, scenario, server, mode, key):
        values = [value for value in self.values(scenario, server, mode, key) if value is not None]
        return median(values) if values else None

    def total(self, scenario, server, mode, key):
        return sum(self.values(scenario, server, mode, key))

    def spread(self, scenario, server, mode, key):
        values = self.values(scenario, server, mode, key)
        return (max(values) - min(values)) / median(values) if any(values) and median(values) else None

    def ratio(self, scenario, server, peer, mode, key):
        """Compares neighbouring measurements, so that noise longer than a round cancels out."""
        pairs = zip(self.values(scenario, server, mode, key), self.values(scenario, peer, mode, key))
        ratios = [ours / theirs for ours, theirs in pairs if ours and theirs]
        return median(ratios) if ratios else None

    def fairness(self, server):
        answered = self.of("fairness", server).get("answered")
        return min(answered) / mean(answered) if answered and any(answered) else None

    def slow_clients_loss(self, server):
        without, beside = (self.of("slow_clients", server).get(key, []) for key in ("without", "with"))
        kept = [b["rps"] / w["rps"] for w, b in zip(without, beside) if w["rps"]]
        return 1 - median(kept) if kept else None

    def worker_kb(self, server, key):
        workers = self.of("memory", server).get("workers")
        return median(size[key] for size in workers) if workers else None

    def fork_ms(self, server):
        times = self.of("memory", server).get("fork_us")
        return median(times) / 1000 if times else None
