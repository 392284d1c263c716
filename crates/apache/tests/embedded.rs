//! `$r` and Registry in a real interpreter, with the results of mod_perl. An interpreter lives as long as its
//! process.

mod support;

use support::{Ask, Server};

/// Handlers and the expected response to each.
const HANDLERS: &[(&str, &str)] = &[
    ("sub { my $r = shift; $r->send_http_header('text/plain'); $r->print('a', \\'b', 3); 0 }", "200 text/plain: ab3"),
    (
        "sub { my $r = shift; $r->content_type('text/plain'); print 'x'; printf '%02d', 7; $r->printf('%s', 'y'); 0 }",
        "200 text/plain: x07y",
    ),
    ("sub { print join ',', $_[0]->args; 0 }", "200 text/html: name,a b,x,1=2,x,,f,"),
    ("sub { print scalar $_[0]->args; 0 }", "200 text/html: name=a%20b&x=1=2;x=&f"),
    (
        "sub { my $r = shift; print join ' ', $r->method, $r->uri, $r->protocol, $r->the_request; 0 }",
        "200 text/html: GET /app/x HTTP/1.1 GET /app/x?name=a%20b&x=1=2;x=&f HTTP/1.1",
    ),
    (
        "sub { my $r = shift; print join ' ', $r->header_in('user-agent'), $r->headers_in->{'User-Agent'}, scalar(my @l = $r->headers_in); 0 }",
        "200 text/html: me me 6",
    ),
    (
        "sub { my $r = shift; print join ',', map { \"$_\" } $r->headers_in; 0 }",
        "200 text/html: Host,h:1,User-Agent,me,Cookie,a=b",
    ),
    (
        "sub { my $r = shift; my $t = $r->headers_out; $t->{B} = 1; $t->set(A => 2); $t->add(a => 3); $t->merge(A => 4); print join ',', map { \"$_=$t->{$_}\" } keys %$t; print '|', join ',', $t->get('a'); delete $t->{B}; print exists $t->{B} ? 'y' : 'n'; 0 }",
        "200 text/html: B=1,A=2, 4,a=2, 4|2, 4,3n",
    ),
    (
        "sub { my $t = Apache::Table->new($_[0]); $t->add(X => $_) for 1 .. 3; my @seen; $t->do(sub { push @seen, $_[1]; $_[1] < 2 }); print \"@seen \", scalar $t->get('x'); 0 }",
        "200 text/html: 1 2 1",
    ),
    (
        "sub { my $r = shift; print join ' ', $r->dir_config('Colour'), $r->dir_config->get('colour'), scalar(() = $r->dir_config); 0 }",
        "200 text/html: green green blue 6",
    ),
    (
        "sub { my $r = shift; $r->notes(a => 5); print $r->notes('a'), defined $r->notes('b') ? 1 : 0; 0 }",
        "200 text/html: 50",
    ),
    ("sub { my $r = shift; $r->pnotes(a => [1, 2]); print $r->pnotes('a')->[1]; 0 }", "200 text/html: 2"),
    ("sub { print keys %Apache::PNOTES ? 'kept' : 'gone'; 0 }", "200 text/html: gone"),
    (
        "sub { my $c = shift->connection; print join ' ', $c->remote_ip, $c->local_ip, length $c->remote_addr, defined $c->user ? 1 : 0; 0 }",
        "200 text/html: 192.0.2.1 192.0.2.2 16 0",
    ),
    (
        "sub { my $s = shift->server; print join ' ', $s->server_hostname, $s->server_admin, $s->dir_config('Size'), $s->is_virtual; 0 }",
        "200 text/html: example.org root@example.org 9 0",
    ),
    (
        "sub { my $r = shift; print join ' ', $r->subprocess_env('REMOTE_ADDR'), $ENV{REQUEST_METHOD}, $ENV{MOD_PERL}, {$r->cgi_env}->{QUERY_STRING}; 0 }",
        "200 text/html: 192.0.2.1 GET mod_perl/1.31 name=a%20b&x=1=2;x=&f",
    ),
    (
        "sub { my $r = Apache->request; print ref $r, ' ', $r->filename, ' ', $r->path_info, ' ', $r->hostname, ' ', $r->server_root_relative('x'); 0 }",
        "200 text/html: Apache /usr/app /x example.org /etc/site/x",
    ),
    ("sub { my $r = shift; $r->status(404); print 'none'; 0 }", "404 text/html: none"),
    ("sub { my $r = shift; $r->status_line('410 Away'); $r->print('gone'); 0 }", "410 text/html: gone"),
    ("sub { 204 }", "204 : "),
    ("sub { print 'x'; exit 3 }", "200 text/html: x"),
    ("sub { print 'x'; Apache::exit(); print 'y' }", "200 text/html: x"),
    ("sub { my $r = shift; eval { $r->exit }; print 'y' }", "200 text/html: "),
    ("sub { my $r = shift; print $r->read(my $b, 10), $b // ''; 0 }", "200 text/html: 0"),
    (
        "sub { bless $_[0], 'My::Request'; @My::Request::ISA = 'Apache'; print $_[0]->method; my $q = bless { _r => $_[0] }, 'My::Request'; print $q->uri; 0 }",
        "200 text/html: GET/app/x",
    ),
    (
        "sub { my $r = shift; $r->send_cgi_header(\"Status: 201 Made\\nContent-Type: text/x\\nX-Y: z\\n\\n\"); $r->print('k'); 0 }",
        "201 text/x: k",
    ),
    ("Apache::Constants::OK", "200 text/html: "),
    ("sub { system 'printf child'; print '.'; 0 }", "200 text/html: child."),
    ("sub { tie *STDOUT, 'Apache'; print 'tied'; printf '%d', 4; 0 }", "200 text/html: tied4"),
    ("sub { print $_[0]->as_string =~ /^User-Agent: me$/m ? 'ok' : 'no'; 0 }", "200 text/html: ok"),
];

fn main() {
    let mut server = Server::boot();
    handlers(&mut server);
    errors(&mut server);
    lifetimes(&mut server);
    between_requests(&mut server);
    bodies(&mut server);
    sending(&mut server);
    registry(&mut server);
    eprintln!("embedded: ok");
}

const ASK: Ask<'static> = Ask {
    method: "GET",
    path: "/app/x",
    query: "name=a%20b&x=1=2;x=&f",
    headers: &[(b"host", b"h:1"), (b"user-agent", b"me"), (b"cookie", b"a=b")],
    body: "",
    root: "/usr",
};

fn handlers(server: &mut Server) {
    for (handler, expected) in HANDLERS {
        let answer = server.ask(handler, &ASK);
        assert_eq!(answer.shown(), *expected, "{handler}\n{}", answer.log);
        assert_eq!(answer.log, "", "{handler}");
        assert!(!answer.end.truncated);
    }
}

fn errors(server: &mut Server) {
    let answer = server.ask("sub { print 'lost'; die \"oops\\n\" }", &ASK);
    assert_eq!((answer.head.status, answer.log.as_str()), (500, "[error] oops\n"));
    assert!(answer.body.contains("Internal Server Error") && !answer.body.contains("lost"));

    let answer = server.ask("sub { $| = 1; print 'part'; die 'late' }", &ASK);
    assert_eq!((answer.head.status, answer.body.as_str(), answer.end.truncated), (200, "part", true));

    let answer = server.ask(
        "sub { my $r = shift; $r->err_headers_out->add('WWW-Authenticate' => 'Basic'); $r->header_out(X => 1); 401 }",
        &ASK,
    );
    assert_eq!(
        (answer.head.status, answer.header("WWW-Authenticate").as_str(), answer.header("X").as_str()),
        (401, "Basic", "")
    );

    let answer = server.ask("sub { my $r = shift; $r->header_out(Location => 'http://x/?a&b'); 302 }", &ASK);
    assert_eq!((answer.head.status, answer.header("Location").as_str()), (302, "http://x/?a&b"));
    assert!(answer.body.contains("href=\"http://x/?a&amp;b\""));

    let answer =
        server.ask("sub { my $r = shift; $r->header_out(X => \"a\\r\\nSet-Cookie: b\"); $r->print('x'); 0 }", &ASK);
    assert_eq!(answer.head.status, 500);
    assert!(answer.log.contains("header \"X\""), "{}", answer.log);

    let answer = server
        .ask("sub { warn 'careful'; print STDERR 'a'; print STDERR \"b\\n\"; shift->log_error('told'); 0 }", &ASK);
    assert!(answer.log.starts_with("[error] careful at "), "{}", answer.log);
    assert!(answer.log.ends_with("[error] ab\n[error] told\n"), "{}", answer.log);

    let answer = server.ask("sub { my $r = shift; $r->log->debug('hidden'); $r->server->log->warn('shown'); $r->warn('w'); Apache->warn('v'); 0 }", &ASK);
    assert_eq!(answer.log, "[warn] shown\n[warn] w\n[warn] v\n");

    let answer = server.ask("sub { -1 }", &ASK);
    assert_eq!(answer.file.as_deref(), Some("/usr/app/x"));
}

fn lifetimes(server: &mut Server) {
    server.ask("sub { $main::kept = shift; $main::table = $main::kept->headers_in; 0 }", &ASK);
    for stale in [
        "$main::kept->uri",
        "$main::kept->headers_in",
        "$main::table->get('host')",
        "$main::table->{host}",
        "$main::kept->print(1)",
    ] {
        let answer = server.ask(&format!("sub {{ print {stale}; 0 }}"), &ASK);
        assert_eq!(answer.head.status, 500, "{stale}");
        assert!(answer.log.contains("this request is over"), "{stale}: {}", answer.log);
    }
    let answer = server.ask(
        "sub { my $r = shift; $r->register_cleanup(sub { $r->log_error('a ' . $_[0]->uri); die \"b\\n\" }); $r->register_cleanup(sub { exit }); $r->post_connection(sub { Apache->log_error('c') }); print 'x'; 0 }",
        &ASK,
    );
    assert_eq!((answer.body.as_str(), answer.log.as_str()), ("x", "[error] a /app/x\n[error] b\n[error] c\n"));
    let answer = server.ask("sub { shift->child_terminate; 0 }", &ASK);
    assert!(answer.end.leaving.is_some());
    let answer = server.ask("sub { 0 }", &ASK);
    assert!(answer.end.leaving.is_none());
}

fn between_requests(server: &mut Server) {
    let outcome = server.perl.eval("Apache->print('x')", "start-up", 1);
    assert!(format!("{outcome:?}").contains("there is no current request at start-up line 1"), "{outcome:?}");
    server
        .perl
        .eval("defined Apache->request and die; Apache->server->server_root eq '/etc/site' or die", "x", 1)
        .expect("runs");
}

fn bodies(server: &mut Server) {
    let form: &[(&[u8], &[u8])] = &[(b"content-type", b"application/x-www-form-urlencoded"), (b"content-length", b"9")];
    let ask = Ask { method: "POST", headers: form, body: "a=1&b=%32", ..Ask::default() };
    let cases = [
        ("sub { my %a = shift->content; print \"$a{a}$a{b}\"; 0 }", "12"),
        (
            "sub { my $r = shift; $r->read(my $b, 3); read STDIN, $b, 100, 3; print $b, $r->should_client_block; 0 }",
            "a=1&b=%321",
        ),
        ("sub { my $b = 'xy'; shift->read($b, 3, 2); print $b, scalar <STDIN>; 0 }", "xya=1&b=%32"),
        ("sub { print `cat`, \"$ENV{CONTENT_LENGTH}\"; 0 }", "a=1&b=%329"),
    ];
    for (handler, expected) in cases {
        let answer = server.ask(handler, &ask);
        assert_eq!(answer.body, expected, "{handler}: {}", answer.log);
    }
    // With MOD_PERL of version 1, CGI.pm uses its code for mod_perl 1.
    let handler = "sub { require CGI; my $q = CGI->new; print $q->header(-type => 'text/plain', -cookie => ['a=1', 'b=2'], -status => '202 Fine'), $q->param('b'); 0 }";
    for round in 0..2 {
        let answer = server.ask(handler, &ask);
        assert_eq!(answer.shown(), "202 text/plain; charset=ISO-8859-1: 2", "round {round}: {}", answer.log);
        assert_eq!(answer.header("Set-Cookie"), "a=1|b=2");
    }
}

fn sending(server: &mut Server) {
    let answer = server.ask("sub { print 'x' x 1000; 0 }", &ASK);
    assert_eq!(answer.packets, 1);
    let answer = server.ask("sub { for my $i (1 .. 3000) { print 'y' x 100 } 0 }", &ASK);
    assert_eq!(answer.body.len(), 300_000);
    let answer = server.ask("sub { print 'a'; print 'z' x 1_000_000; print 'b'; 0 }", &ASK);
    assert!(answer.body.len() == 1_000_002 && answer.body.starts_with("az") && answer.body.ends_with("zb"));
    let answer =
        server.ask("sub { my $r = shift; $r->send_http_header; $r->rflush; $r->print('x'); $r->rflush; 0 }", &ASK);
    assert_eq!((answer.packets, answer.body.as_str()), (3, "x"));
    // A decoded string is sent as UTF-8, without a warning; a byte string is sent unchanged.
    let answer = server.ask(
        "sub { my $r = shift; my $decoded = \"\\x{e9}\"; utf8::upgrade($decoded); \
         $r->print(\"\\xc3\\xa9\", $decoded, \"\\x{20ac}\"); 0 }",
        &ASK,
    );
    assert_eq!((answer.body.as_str(), answer.log.as_str()), ("éé€", ""));
}

fn registry(server: &mut Server) {
    let root = std::env::temp_dir().join(format!("apache-registry-{}", std::process::id()));
    std::fs::create_dir_all(root.join("cgi/deep")).expect("temporary folder");
    let mut site = Site { server, root };
    site.answers();
    site.refuses();
    site.recompiles();
    std::fs::remove_dir_all(&site.root).expect("removed");
}

struct Site<'a> {
    server: &'a mut Server,
    root: std::path::PathBuf,
}

/// Scripts and the expected responses to a first and a second request.
const SCRIPTS: &[(&str, &str, &str)] = &[
    ("print \"Content-type: text/plain\\n\\nhi\";", "200 text/plain: hi", "200 text/plain: hi"),
    (
        "print \"Status: 404 None\\r\\nContent-type: text/plain\\r\\n\\r\\n\"; print 'no';",
        "404 text/plain: no",
        "404 text/plain: no",
    ),
    ("$n++; print \"Content-type: a/b\\n\"; print \"\\n\"; print $n", "200 a/b: 1", "200 a/b: 2"),
    ("print \"Content-type: a/b\\n\\n\"; exit; print 'x'", "200 a/b: ", "200 a/b: "),
    (
        "my $r = shift; $r->send_http_header('text/x'); $r->print($r->uri)",
        "200 text/x: /cgi/a.pl",
        "200 text/x: /cgi/a.pl",
    ),
    ("print \"Content-type: a/b\\n\\n\", <DATA>;\n__END__\none\ntwo\n", "200 a/b: one\ntwo\n", "200 a/b: one\ntwo\n"),
    (
        "my $t = <<X;\n__END__\nX\nprint \"Content-type: a/b\\n\\n$t\", <DATA>, 1 << 2;\n\n=pod\n\n__END__\n\n=cut\n\nprint 'more';\n__DATA__\nd",
        "200 a/b: __END__\nd4more",
        "200 a/b: __END__\nd4more",
    ),
    (
        "package Mine; print \"Content-type: a/b\\n\\n\", __PACKAGE__, scalar <DATA>;\n__DATA__\nd",
        "200 a/b: Mined",
        "200 a/b: Mined",
    ),
    (
        "print \"Content-type: a/b\\n\\n\", __PACKAGE__, ' ', __FILE__ =~ m{([^/]+)$}, ' ', __LINE__, ' ', $0 =~ m{([^/]+)$}",
        "200 a/b: Apache::ROOT::cgi::a_2epl a.pl 1 a.pl",
        "200 a/b: Apache::ROOT::cgi::a_2epl a.pl 1 a.pl",
    ),
    ("use Cwd; print \"Content-type: a/b\\n\\n\", getcwd() =~ m{([^/]+)$}", "200 a/b: cgi", "200 a/b: cgi"),
    (
        "use FindBin; print \"Content-type: a/b\\n\\n\", $FindBin::Bin =~ m{([^/]+)$}, $FindBin::Script",
        "200 a/b: cgia.pl",
        "200 a/b: cgia.pl",
    ),
    (
        "BEGIN { $b++ } print \"Content-type: a/b\\n\\n$b\"; END { print 'end', ++$e }",
        "200 a/b: 1end1",
        "200 a/b: 1end2",
    ),
    ("print \"Content-type: a/b\\n\\n\"; END { print 'end' } exit 1;", "200 a/b: end", "200 a/b: end"),
    (
        "my $x = 5; print \"Content-type: a/b\\n\\n\"; sub handler { print 'mine' } handler(); sub lc { 'sub' } print &lc; # a comment at the end",
        "200 a/b: minesub",
        "200 a/b: minesub",
    ),
    ("use constant X => 3; print \"Content-type: a/b\\n\\n\", X; return 7", "200 a/b: 3", "200 a/b: 3"),
    ("print \"Location: /there\\n\\n\"", "0 : elsewhere /there", "0 : elsewhere /there"),
    ("local $| = 1; print \"Content-type: a/b\\n\\n\"; print 'x'", "200 a/b: x", "200 a/b: x"),
    (
        "use CGI; my $q = CGI->new; print $q->header('a/b'), join ',', $q->param",
        "200 a/b; charset=ISO-8859-1: keywords",
        "200 a/b; charset=ISO-8859-1: keywords",
    ),
    ("print \"Content-type: a/b\\n\\n@ARGV\"", "200 a/b: w1 w+2", "200 a/b: w1 w+2"),
    ("#!/usr/bin/perl -w\nprint \"Content-type: a/b\\n\\n$^W\"", "200 a/b: 1", "200 a/b: 1"),
    (
        "use strict; use warnings; my %h = (a => 1); print \"Content-type: a/b\\n\\n\", eval { exit_not() } // 'none'; sub exit_not { die }",
        "200 a/b: none",
        "200 a/b: none",
    ),
];

impl Site<'_> {
    fn write(&self, name: &str, text: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        let file = self.root.join(name);
        std::fs::write(&file, text).expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("mode");
    }

    fn ask(&mut self, path: &str) -> support::Response {
        self.server.place.send_header = true;
        let root = self.root.to_string_lossy().into_owned();
        self.server.ask("Apache::Registry", &Ask { path, query: "w1+w%2B2", root: &root, ..Ask::default() })
    }

    fn answers(&mut self) {
        self.server.place.options = apache::OPT_EXECCGI;
        for (number, (code, first, second)) in SCRIPTS.iter().enumerate() {
            self.write("cgi/a.pl", code, 0o755);
            self.touch("cgi/a.pl", number as u64);
            for expected in [first, second] {
                let answer = self.ask("/cgi/a.pl/info");
                assert_eq!(answer.shown().replace("/info", ""), **expected, "{code}\n{}", answer.log);
                assert_eq!(answer.log, "", "{code}");
            }
        }
    }

    /// Registry compares file times in whole seconds.
    fn touch(&self, name: &str, second: u64) {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + second);
        let file = std::fs::File::options().write(true).open(self.root.join(name)).expect("opens");
        file.set_modified(time).expect("mtime");
    }

    fn refuses(&mut self) {
        self.write("cgi/plain.pl", "print 1", 0o644);
        self.write("cgi/broken.pl", "\n\nmy $x = ;\n", 0o755);
        self.write("cgi/dies.pl", "\nsub f { die 'here' }\nf();\n", 0o755);
        self.write("cgi/silent.pl", "1;", 0o755);
        self.write("cgi/headless.pl", "print \"<html>\\n\\n\"; print 'x' x 100_000", 0o755);
        let cases = [
            ("/cgi/none.pl", 404, "there is no such file"),
            ("/cgi/deep", 403, "the path is a folder"),
            ("/cgi/plain.pl", 403, "not executable"),
            ("/cgi/broken.pl", 500, "cgi/broken.pl line 3"),
            ("/cgi/dies.pl", 500, "here at "),
            ("/cgi/silent.pl", 500, "Premature end of script headers: "),
            ("/cgi/headless.pl", 500, "Bad header=<html>: "),
        ];
        for (path, status, log) in cases {
            let answer = self.ask(path);
            assert_eq!(answer.head.status, status, "{path}: {}", answer.log);
            assert!(answer.log.contains(log), "{path}: {}", answer.log);
        }
        self.server.place.options = 0;
        assert_eq!(self.ask("/cgi/a.pl").head.status, 403);
        self.server.place.options = apache::OPT_EXECCGI;
    }

    fn recompiles(&mut self) {
        let head = "use warnings; print qq{Content-type: a/b\\n\\n};";
        for (second, body) in [
            (1, "sub f { 'one' } our $n = ($n // 0) + 1; print f(), $n"),
            (2, "use constant C => 1; sub f { 'two' } our $n; $n++; print f(), $n"),
            (3, "use constant C => 2; our $n; print defined &f ? 'f' : 'no f', C, $n"),
        ] {
            self.write("cgi/v.pl", &format!("{head} {body}"), 0o755);
            self.touch("cgi/v.pl", second);
            let answer = self.ask("/cgi/v.pl");
            let expected = ["", "one1", "two2", "no f22"][second as usize];
            assert_eq!((answer.body.as_str(), answer.log.as_str()), (expected, ""));
        }
    }
}
