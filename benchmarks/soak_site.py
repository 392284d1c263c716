"""The site of soak.py, with one program of each kind."""

STATIC = "a static file\n" * 200
UPLOAD = b"0123456789abcdef" * 12_500  # too large to be sent in memory
FORM = b"name=camel&colour=sand&name=dromedary"

# The kinds of requests: frequency, request, expected status and body.
KINDS = {
    "handler": (24, "GET", "/handler?n=1", None, 200, b"handler n=1\n"),
    "registry": (20, "GET", "/perl/plain.pl?n=2", None, 200, b"registry n=2\n"),
    "psgi": (20, "GET", "/psgi/x", None, 200, b"psgi /x\n"),
    "static": (12, "GET", "/file.txt", None, 200, STATIC.encode()),
    "form": (6, "POST", "/form", FORM, 200, b"camel,dromedary sand\n"),
    "upload": (3, "POST", "/upload", UPLOAD, 200, b"%d\n" % len(UPLOAD)),
    "stream": (3, "GET", "/psgi/stream", None, 200, b"one\n" * 50),
    "error": (3, "GET", "/handler?status=404", None, 404, None),
    "die": (3, "GET", "/handler?die=1", None, 500, None),
    "exit": (1, "GET", "/perl/exit.pl", None, 200, b"before\n"),
    "missing": (3, "GET", "/none.txt", None, 404, None),
    "interpreter": (2, "GET", "/interpreter", None, 200, None),
}

HANDLERS = """package Soak;
use v5.36;
use Apache::Constants ':common';
use Apache::Leak ();
use Apache::Request ();
sub handler ($r) {
    my %args = $r->args;
    die "as asked\\n" if $args{die};
    return $args{status} if $args{status};
    $r->send_http_header('text/plain');
    $r->print("handler n=$args{n}\\n");
    return OK;
}
sub form ($r) {
    my $form = Apache::Request->new($r);
    my @names = $form->param('name');
    $r->send_http_header('text/plain');
    $r->print( join( ',', @names ), ' ', scalar $form->param('colour'), "\\n" );
    return OK;
}
sub upload ($r) {
    my $length = 0;
    while ( my $n = $r->read( my $buffer, 65536 ) ) { $length += $n }
    $r->send_http_header('text/plain');
    $r->print("$length\\n");
    return OK;
}
our $asked = 0;
sub interpreter ($r) {
    my ( $values, $arenas ) = ( Apache::Leak::count(), Apache::Leak::arenas() );
    $r->send_http_header('text/plain');
    $r->print("$$ $asked $values $arenas\\n");
    return OK;
}
sub count ($r) { $asked++; return DECLINED }
1;
"""

PLAIN = """use strict;
my %args = Apache->request->args;
print "Content-Type: text/plain\\n\\nregistry n=$args{n}\\n";
"""

EXIT = """print "Content-Type: text/plain\\n\\nbefore\\n"; exit; print "behind\\n";"""

PSGI = """sub {
    my $env = shift;
    return [ 200, [ 'Content-Type' => 'text/plain' ], ["psgi $env->{PATH_INFO}\\n"] ] if $env->{PATH_INFO} ne '/stream';
    return sub {
        my $writer = $_[0]->( [ 200, [ 'Content-Type' => 'text/plain' ] ] );
        $writer->write("one\\n") for 1 .. 50;
        $writer->close;
    };
};
"""

CONF = """ServerRoot {folder}
Listen 127.0.0.1:{port}
ServerName localhost
DocumentRoot htdocs
PidFile server.pid
ControlSocket control.sock
ErrorLog error.log
CustomLog access.log common
StartServers {workers}
MinSpareServers {workers}
MaxSpareServers {workers}
MaxClients {workers}
MaxRequestsPerChild {per_child}
MaxKeepAliveRequests 500
PerlLib lib
PerlModule Soak Apache::Registry
PerlLogHandler Soak::count
Alias /perl/ {folder}/perl/
<Location /perl>
SetHandler perl-script
PerlHandler Apache::Registry
PerlSendHeader On
Options +ExecCGI
</Location>
<Location /psgi>
PsgiApp app.psgi
</Location>
"""

LOCATION = "<Location /{0}>\nSetHandler perl-script\nPerlHandler Soak{1}\n</Location>\n"


def write_site(folder, port, workers, per_child):
    files = {
        "htdocs/file.txt": STATIC, "lib/Soak.pm": HANDLERS, "perl/plain.pl": PLAIN, "perl/exit.pl": EXIT, "app.psgi": PSGI,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    conf = CONF.format(folder=folder, port=port, workers=workers, per_child=per_child)
    for name, sub in {"handler": "", "form": "::form", "upload": "::upload", "interpreter": "::interpreter"}.items():
        conf += LOCATION.format(name, sub)
    (folder / "site.conf").write_text(conf)
    return folder / "site.conf"
