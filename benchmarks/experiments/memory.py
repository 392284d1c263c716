"""Measures the memory saved by preloading and warm-up: a worker's private memory after some requests, and the number of workers in 256 MB.

Warm-up means the same for both servers: before the fork the script is compiled, and its functions have run once. Cameleer's PerlWarmup
requests the script. mod_perl 2 has no such directive, so its start-up file compiles the script and calls its functions without a request.
"""

import re
from contextlib import ExitStack
from pathlib import Path

import ab
from experiment import BOTH, Variant
from peers import PEERS, Missing
from report import table
from server import Failed
from variant import Site, started

ROOM = 256 << 20
# Enough concurrent requests for both workers.
WARM_UP = ab.Load(100, 16)


def compiling(script):
    return (f"use ModPerl::RegistryLoader (); ModPerl::RegistryLoader->new(package => 'ModPerl::Registry')"
            f"->handler('/perl/{script}', '@ROOT@/registry/{script}');\n1;\n")


STARTUP = {
    "cgi": "use CGI (); 1;\n",
    "cgi-compiled": "use CGI (); CGI->compile(':all'); 1;\n",
    "dbi": "use DBI (); use DBD::SQLite (); 1;\n",
    "driver": "use DBI (); DBI->install_driver('SQLite'); 1;\n",
    "connect": "use Apache::DBI (); Apache::DBI->connect_on_init(\"dbi:SQLite:$ENV{EXPERIMENT_DATABASE}\", '', '', { RaiseError => 1 }); 1;\n",
    "driver-connect": "use Apache::DBI (); DBI->install_driver('SQLite');\n"
                      "Apache::DBI->connect_on_init(\"dbi:SQLite:$ENV{EXPERIMENT_DATABASE}\", '', '', { RaiseError => 1 }); 1;\n",
    "five-run": "use CGI (); local $CGI::MOD_PERL = 0; use DBI (); use POSIX (); use Storable (); use LWP::UserAgent ();\n"
                "CGI->new('a=1')->param('a'); LWP::UserAgent->new; Storable::thaw(Storable::freeze([1])); POSIX::strftime('%c', localtime);\n" + compiling("modules.pl"),
    "cgi-run": "use CGI (); CGI->compile(':all'); local $CGI::MOD_PERL = 0; my $q = CGI->new('a=1'); $q->param('a'); $q->header; $q->start_html('x');\n" + compiling("cgi_pm.pl"),
    "dbi-run": "use DBI (); my $dbh = DBI->connect(\"dbi:SQLite:$ENV{EXPERIMENT_DATABASE}\", '', '', { RaiseError => 1 });\n"
               "$dbh->selectall_arrayref('select 1'); $dbh->disconnect;\n" + compiling("database.cgi"),
    "five": "use CGI (); use DBI (); use POSIX (); use Storable (); use LWP::UserAgent (); 1;\n",
}
WARMED = "preloaded and warmed"
# Preloads that in mod_perl 2 are start-up files which also run the code.
PRELOADED = {"five-run": "five", "cgi-run": "cgi-compiled", "dbi-run": "driver"}
# title, path, (variant, start-up file, the document's unshared bytes)
GROUPS = (
    ("Five modules (G, 1.2.1)", "/perl/modules.pl", (
        ("nothing preloaded", None, "2572288"), ("preloaded", "five", "712704"), (WARMED, "five-run", ""))),
    ("CGI.pm (G, 1.2.5)", "/perl/cgi_pm.pl?a=1", (
        ("nothing preloaded", None, "1191936"), ("preloaded", "cgi", "1011712"), ("preloaded and compiled", "cgi-compiled", "802816"),
        (WARMED, "cgi-run", ""))),
    ("DBI (G, 1.2.4)", "/perl/database.cgi", (
        ("install_driver", "driver", "860160"), ("install_driver and connect_on_init", "driver-connect", "876544"),
        ("preloaded", "dbi", "880640"), ("nothing", None, "995328"), ("connect_on_init", "connect", "1011712"),
        (WARMED, "dbi-run", ""))),
)


def report(root):
    parts = []
    for title, path, variants in GROUPS:
        rows = []
        for name, startup, theirs in variants:
            variant = Variant(name, path, {server: lines(root, server, startup, path) for server in BOTH}, workers=2)
            rows.append([name, theirs, *[cell for server in BOTH for cell in cells(server, Site(root, variant), path)]])
        header = ["variant", "document: unshared bytes"]
        for server in BOTH:
            header += [f"{server}: private kB", "workers in 256 MB"]
        parts.append(f"## Memory: {title}\n\n" + table(header, rows))
    return "\n\n".join(parts)


def lines(root, server, startup, path):
    """Configuration lines of the variant."""
    warmed = startup in PRELOADED
    if warmed and server == "cameleer":
        startup = PRELOADED[startup]
    text = "PerlPassEnv EXPERIMENT_DATABASE\n"
    if startup:
        (root / f"{startup}.pl").write_text(STARTUP[startup].replace("@ROOT@", str(root)))
        text += f'PerlRequire "{root}/{startup}.pl"\n'
    if warmed and server == "cameleer":
        text += f"PerlWarmup {path}\n"
    return text


def cells(name, site, path):
    try:
        with ExitStack() as stack:
            server = stack.enter_context(started(PEERS[name], site, path))
            ab.measure(server, path, WARM_UP)
            # The largest worker: another one may not have had a request.
            private, shared = max(map(memory_of, server.workers()))
            return [f"{private / 1024:.0f}", f"{(ROOM - shared) / private:.0f}"]
    except (Missing, Failed, OSError) as reason:
        return [str(reason)[:60], ""]


def memory_of(pid):
    """(private, shared) bytes."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    of = lambda name: sum(int(kb) for kb in re.findall(rf"^{name}\w*: +(\d+) kB", text, re.M)) << 10
    return of("Private_"), of("Shared_")
