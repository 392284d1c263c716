"""What an experiment is: variants of one site, a load, and what the document found."""

from dataclasses import dataclass, field

from ab import Load

BOTH = ("mod_perl2", "cameleer")


@dataclass(frozen=True)
class Variant:
    name: str
    path: str
    conf: dict = field(default_factory=dict)  # lines for each server; a server that is not named cannot run it
    theirs: str = ""  # what the document's table says
    load: Load = Load()
    workers: int = 10
    pool: str = ""  # further lines for the pool, both servers'
    session: bool = False  # all requests with the cookie of a first one


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    document: str  # where it is described
    column: str  # what `theirs` is
    variants: tuple
    question: str


def both(lines=""):
    return {server: lines for server in BOTH}
