"""Careless scripts, and their effects on the next request."""

from concurrent.futures import ThreadPoolExecutor

from load import Load, get
from servers import WORKERS, wait_for_workers

from .registry import fault

KINDS = ("exit", "die", "segv", "fork", "exec", "stray", "closed", "chdir", "umask", "alarm", "signal", "hook", "slash", "select",
         "env", "files")
ALWAYS = 6  # requests per worker, so that each worker gets some


@fault("mischief", f"{len(KINDS)} scripts: " + ", ".join(KINDS), "only their own request suffers, the next one finds nothing of it")
def mischief(server):
    soiled, seen = [], states(server)
    with Load(server.port, clients=1) as others:
        for kind in KINDS:
            get(server.port, f"/commit?{kind}", 5)
            wait_for_workers(server, 5)
            found = states(server)
            if found - seen:
                soiled.append(kind)
            seen |= found
    left = f"left something behind: {', '.join(soiled)}" if soiled else "nothing left behind"
    return f"{left}; others: {others.told()}"


def states(server):
    """The state lines of the workers that answer, one per request."""
    with ThreadPoolExecutor(2 * WORKERS) as pool:
        answers = pool.map(lambda _: get(server.port, "/state", 5), range(ALWAYS * WORKERS))
        return {answer.body.partition(b" ")[2] if answer.ok else answer.reason.encode() for answer in answers}
