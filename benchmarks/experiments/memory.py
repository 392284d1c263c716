"""What preloading saves: private memory of a worker after its second request, and how many fit into 256 MB."""

import re
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import ab
from experiment import BOTH, Variant, both
from peers import PEERS, Missing
from report import table
from server import Failed
from variant import Site, started

ROOM = 256 << 20
# So many at once that each of the two workers answers some.
WARM_UP = ab.Load(100, 16)
STARTUP = {
    "cgi": "use CGI (); 1;\n",
    "cgi-compiled": "use CGI (); CGI->compile(':all'); 1;\n",
    "dbi": "use DBI (); use DBD::SQLite (); 1;\n",
    "driver": "use DBI (); DBI->install_driver('SQLite'); 1;\n",
    "connect": "use Apache::DBI (); Apache::DBI->connect_on_init(\"dbi:SQLite:$ENV{EXPERIMENT_DATABASE}\", '', '', { RaiseError => 1 }); 1;\n",
    "driver-connect": "use Apache::DBI (); DBI->install_driver('SQLite');\n"
                      "Apache::DBI->connect_on_init(\"dbi:SQLite:$ENV{EXPERIMENT_DATABASE}\", '', '', { RaiseError => 1 }); 1;\n",
    "five": "use CGI (); use DBI (); use POSIX (); use Storable (); use LWP::UserAgent (); 1;\n",
}
# title, path, (variant, start-up file, the document's unshared bytes)
GROUPS = (
    ("Five modules (G, 1.2.1)", "/perl/modules.pl", (("nothing preloaded", None, "2572288"), ("preloaded", "five", "712704"))),
    ("CGI.pm (G, 1.2.5)", "/perl/cgi_pm.pl?a=1", (
        ("nothing preloaded", None, "1191936"), ("preloaded", "cgi", "1011712"), ("preloaded and compiled", "cgi-compiled", "802816"))),
    ("DBI (G, 1.2.4)", "/perl/database.cgi", (
        ("install_driver", "driver", "860160"), ("install_driver and connect_on_init", "driver-connect", "876544"),
        ("preloaded", "dbi", "880640"), ("nothing", None, "995328"), ("connect_on_init", "connect", "1011712"))),
)


def report(root):
    parts = []
    for title, path, variants in GROUPS:
        rows = []
        for name, startup, theirs in variants:
            lines = "PerlPassEnv EXPERIMENT_DATABASE\n"
            if startup:
                (root / f"{startup}.pl").write_text(STARTUP[startup])
                lines += f'PerlRequire "{root}/{startup}.pl"\n'
            variant = Variant(name, path, both(lines), workers=2)
            rows.append([name, theirs, *[cell for server in BOTH for cell in cells(server, Site(root, variant), path)]])
        header = ["variant", "document: unshared bytes"]
        for server in BOTH:
            header += [f"{server}: private kB", "workers in 256 MB"]
        parts.append(f"## Memory: {title}\n\n" + table(header, rows))
    return "\n\n".join(parts)


def cells(name, site, path):
    try:
        with ExitStack() as stack:
            server = stack.enter_context(started(PEERS[name], site, path))
            ab.measure(server, path, WARM_UP)
            private, shared = map(median, zip(*map(memory_of, server.workers())))
            return [f"{private / 1024:.0f}", f"{(ROOM - shared) / private:.0f}"]
    except (Missing, Failed, OSError) as reason:
        return [str(reason)[:60], ""]


def memory_of(pid):
    """(private, shared) bytes."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    of = lambda name: sum(int(kb) for kb in re.findall(rf"^{name}\w*: +(\d+) kB", text, re.M)) << 10
    return of("Private_"), of("Shared_")
