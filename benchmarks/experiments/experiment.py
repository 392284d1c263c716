"""An experiment: variants of a site, a load, and the document's result."""

from dataclasses import dataclass, field

from ab import Load

BOTH = ("mod_perl2", "cameleer")


@dataclass(frozen=True)
class Variant:
    name: str
    path: str
    conf: dict = field(default_factory=dict)  # lines per server; a server without an entry cannot run the experiment
    theirs: str = ""  # the figure in the document's table
    load: Load = Load()
    workers: int = 10
    pool: str = ""  # further lines for the pool, for both servers
    session: bool = False  # all requests send the cookie of the first one


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    document: str  # file of mod_perl's documents
    column: str  # column of `theirs` that the value is compared with
    variants: tuple
    question: str


def both(lines=""):
    return {server: lines for server in BOTH}
