"""An experiment: variants of a site, a load, and the document's result."""

from dataclasses import dataclass, field

from ab import Load

BOTH = ("mod_perl2", "cameleer")


@dataclass(frozen=True)
class Variant:
    name: str
    path: str
    conf: dict = field(default_factory=dict)  # lines per server; servers without an entry cannot run it
    theirs: str = ""  # the figure in the document's table
    load: Load = Load()
    workers: int = 10
    pool: str = ""  # further lines for the pool, for both servers
    session: bool = False  # all requests send the cookie of the first one


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    document: str  # the document
    column: str  # the column of `theirs`
    variants: tuple
    question: str


def both(lines=""):
    return {server: lines for server in BOTH}
