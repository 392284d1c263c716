//! Programs that print without end are ended when their client disconnects, for every way to print and to catch
//! exceptions.

use std::process::Command;

use crate::http2::raw::{CANCEL, DATA, RST_STREAM, Raw};
use crate::support::{Finished, Request, Server, Site, until};

/// One worker without RequestTimeout. QueueTimeout is so long that the next request waits for the endless one to end.
const CONF: &str =
    "MaxClients 1\nStartServers 1\nRequestTimeout 0\nQueueTimeout 10000s\nAlias /perl/ \"@DIR@/scripts/\"\n";
const REGISTRY_1: &str = "<Location /perl>\nSetHandler perl-script\nPerlHandler Apache::Registry\nPerlSendHeader On\nOptions +ExecCGI\n</Location>\n";
const REGISTRY_2: &str = "PerlModule ModPerl::Registry\n<Location /perl>\nSetHandler perl-script\nPerlResponseHandler ModPerl::Registry\n\
    PerlOptions +ParseHeaders\nOptions +ExecCGI\n</Location>\n";

const HEAD: &str = "print \"Content-Type: text/plain\\n\\n\";\nmy $r = shift;\nour $text = 'x' x 20_000;\n";
/// Ways to print: code before the loop, code in the loop.
const OPERATORS: &[(&str, &str)] = &[
    ("", "print $text"),
    ("$| = 1;", "print 'x'"),
    ("", "printf '%s', $text"),
    ("use feature 'say';", "say $text"),
    ("", "syswrite STDOUT, $text"),
    ("open my $copy, '>&STDOUT' or die;", "print {$copy} $text"),
    ("open my $copy, '>&=STDOUT' or die;", "print {$copy} $text"),
    ("open my $copy, '>&STDOUT' or die; select $copy;", "print $text"),
    ("binmode STDOUT, ':encoding(UTF-8)';", "print $text"),
    ("use IO::Handle;", "STDOUT->print($text); STDOUT->flush"),
    ("our $line = 'x' x 2000; format LONG =\n@*\n$line\n.\n$~ = 'LONG';", "write"),
    ("", "eval { print $text; 1 }"),
    ("", "eval { eval { print $text; 1 } or print 'again'; 1 } or print 'and again'"),
    ("local $SIG{__DIE__} = sub { print 'dying' };", "eval { print $text }"),
    ("use CGI ();", "print CGI->new('')->p($text)"),
];
/// Methods of `$r` that both APIs have.
const METHODS: &[(&str, &str)] = &[
    ("", "$r->print($text)"),
    ("$| = 1;", "$r->print('x')"),
    ("", "$r->printf('%s', $text)"),
    ("", "$r->write($text, 20_000)"),
    ("", "$r->print('x'); $r->rflush"),
    ("", "eval { $r->print($text) }"),
    ("", "eval { $r->rflush; $r->print('x'); 1 } or $r->print('x')"),
];
const METHODS_OF_1: &[(&str, &str)] = &[
    ("", "$r->write_client($text)"),
    ("", "open my $file, '<', '@DIR@/big' or die; $r->send_fd($file)"),
    ("tie *STDOUT, 'Apache', $r;", "print $text"),
];
const METHODS_OF_2: &[(&str, &str)] = &[
    ("", "$r->puts($text)"),
    ("", "$r->sendfile('@DIR@/big')"),
    ("", "my $status = $r->sendfile('@DIR@/big')"),
    ("", "eval { $r->sendfile('@DIR@/big') }"),
];

/// Reads the beginning of the response, then disconnects.
#[track_caller]
fn leaves_in_the_middle_of(server: &Server, path: &str) {
    let mut connection = server.connect();
    connection.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    connection.head();
    assert!(!connection.chunk().is_empty(), "{path}");
}

/// Checks each way to print with a script of its own, called directly and through an internal redirect.
#[track_caller]
fn every_way_to_print_ends_the_script(api: &str, ways: &[&[(&str, &str)]]) {
    let mut site = Site::new().script("scripts/pid.pl", "print \"Content-Type: text/plain\\n\\n$$\";");
    site.write("big", &"x".repeat(200_000));
    let ways: Vec<_> = ways.iter().flat_map(|ways| ways.iter()).collect();
    for (number, (before, print)) in ways.iter().enumerate() {
        let script = format!("{HEAD}{before}\nprint $text; print $text;\nwhile (1) {{ {print} }}\n");
        site = site.script(&format!("scripts/{number}.pl"), &script);
    }
    let module = if api == REGISTRY_2 { "use Apache2::SubRequest ();" } else { "" };
    let redirect = &format!("{module} my $r = shift; $r->internal_redirect('/perl/' . $r->args . '.pl');");
    let server = site.script("scripts/redirect.pl", redirect).serve(&format!("{CONF}{api}"));
    let worker = server.text("/perl/pid.pl");
    for (number, (before, print)) in ways.iter().enumerate() {
        leaves_in_the_middle_of(&server, &format!("/perl/{number}.pl"));
        assert_eq!(server.text("/perl/pid.pl"), worker, "{before} {print}: {}", server.log());
    }
    for (number, way) in ways.iter().enumerate().filter(|(_, way)| way.1.contains("eval")) {
        leaves_in_the_middle_of(&server, &format!("/perl/redirect.pl?{number}"));
        assert!(!server.text("/perl/pid.pl").is_empty(), "redirected to {way:?}");
    }
}

#[test]
fn a_registry_script_of_mod_perl_1_ends_however_it_prints() {
    every_way_to_print_ends_the_script(REGISTRY_1, &[OPERATORS, METHODS, METHODS_OF_1]);
}

#[test]
fn a_registry_script_of_mod_perl_2_ends_however_it_prints() {
    every_way_to_print_ends_the_script(REGISTRY_2, &[OPERATORS, METHODS, METHODS_OF_2]);
}

#[test]
fn a_handler_that_prints_ends() {
    for (handlers, use_it) in [
        ("SetHandler perl-script\nPerlHandler Endless", ""),
        (
            "SetHandler perl-script\nPerlResponseHandler Endless",
            "use Apache2::RequestRec (); use Apache2::RequestIO ();",
        ),
        ("SetHandler modperl\nPerlResponseHandler Endless", "use Apache2::RequestRec (); use Apache2::RequestIO ();"),
    ] {
        let print = if handlers.contains("modperl") { "$r->print($text)" } else { "print $text" };
        let code = format!(
            "package Endless; {use_it} sub handler {{ my $r = shift; my $text = 'x' x 20_000; $r->content_type('text/plain');\n\
             if ($r->uri eq '/pid') {{ $r->print($$); return 0 }} while (1) {{ eval {{ {print} }} }} }} 1;"
        );
        let conf = format!("{CONF}PerlSwitches -Ilib\nPerlModule Endless\n<Location />\n{handlers}\n</Location>\n");
        let conf = if use_it.is_empty() { conf.replace("PerlSwitches -Ilib", "PerlLib lib") } else { conf };
        let server = Site::new().file("lib/Endless.pm", &code).serve(&conf);
        let worker = server.text("/pid");
        leaves_in_the_middle_of(&server, "/endless");
        assert_eq!(server.text("/pid"), worker, "{handlers}");
    }
}

#[test]
fn a_filter_that_prints_without_end_ends() {
    let code = "package Endless; use Apache2::RequestRec (); use Apache2::RequestIO (); use Apache2::Filter ();
        sub handler { my $r = shift; $r->content_type('text/plain'); $r->print($r->uri eq '/pid' ? $$ : 'x'); 0 }
        sub filter { my $f = shift; while ($f->read(my $text, 1000)) { if ($text eq 'x') { $f->print('x' x 20_000) while 1 } $f->print($text) } 0 } 1;";
    let conf = "PerlSwitches -Ilib\nPerlModule Endless\n<Location />\nSetHandler modperl\nPerlResponseHandler Endless\n\
        PerlOutputFilterHandler Endless::filter\n</Location>\n";
    let server = Site::new().file("lib/Endless.pm", code).serve(&format!("{CONF}{conf}"));
    let worker = server.text("/pid");
    leaves_in_the_middle_of(&server, "/endless");
    assert_eq!(server.text("/pid"), worker);
}

#[test]
fn a_psgi_application_ends_whatever_it_catches() {
    let app = "sub { my $p = $_[0]{PATH_INFO}; return [200, [], [$$]] if $p eq '/pid';
        sub { my $w = $_[0]->([200, []]);
              while (1) { $p eq '/catches' ? eval { $w->write('x' x 20_000) } : $w->write('x' x 20_000) } } }";
    let conf = format!("{CONF}LogLevel info\n<Location />\nPsgiApp app.psgi\n</Location>\n");
    let server = Site::new().file("app.psgi", app).serve(&conf);
    let worker = server.text("/pid");
    for (path, expected) in [("/ignores", "PSGI: the client has left at "), ("/catches", "the program was ended")] {
        leaves_in_the_middle_of(&server, path);
        assert_eq!(server.text("/pid"), worker, "{path}");
        let line = server.logged(expected);
        assert!(line.contains(":info]") && line.contains(path), "{line}");
    }
    assert!(server.logged("PSGI: the client has left at ").contains("app.psgi line 3"), "{}", server.log());
    assert!(!server.log().contains("[perl:error]"), "{}", server.log());
}

/// The end of the request runs as after `exit` and after an uncaught exception: destructors, END blocks, cleanups,
/// logging.
#[test]
fn destructors_end_blocks_cleanups_and_logs_have_their_turn() {
    let common = "{ package Held; sub DESTROY { main::said('destroyed') } }
        my $held = bless [], 'Held'; END { eval { print 'the end' }; main::said('ended') }\n";
    let package =
        "package Said; sub main::said { open my $f, '>>', '@DIR@/said'; print {$f} \"@_\\n\"; close $f; 1 }\n";
    let log = "sub handler { my $r = shift; return 0 if $r->uri =~ /pid/; main::said('logged ' . $r->connection->aborted); 0 } 1;\n";
    let apis = [
        (
            REGISTRY_1,
            "PerlLib lib\nPerlModule Said\nPerlLogHandler Said\n",
            "$r->register_cleanup(sub { main::said('cleaned') });",
            "",
        ),
        (
            REGISTRY_2,
            "PerlSwitches -Ilib\nPerlModule Said\nPerlLogHandler Said\n",
            "$r->pool->cleanup_register(sub { main::said('cleaned') });",
            "use Apache2::RequestRec (); use Apache2::RequestUtil (); use Apache2::Connection (); use APR::Pool ();\n",
        ),
    ];
    for (api, conf, cleanup, modules) in apis {
        for print in ["print $text", "eval { print $text }"] {
            let script = format!("{HEAD}{}{cleanup}\nwhile (1) {{ {print} }}\n", common);
            let server = Site::new()
                .file("lib/Said.pm", &format!("{package}{modules}{log}"))
                .script("scripts/pid.pl", "print \"Content-Type: text/plain\\n\\n$$\";")
                .script("scripts/endless.pl", &script)
                .serve(&format!("{CONF}{api}{conf}"));
            let worker = server.text("/perl/pid.pl");
            leaves_in_the_middle_of(&server, "/perl/endless.pl");
            assert_eq!(server.text("/perl/pid.pl"), worker, "{print}");
            let steps = || {
                let mut lines: Vec<String> = server.site.read("said").lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            until("all of it is done", || steps().len() >= 4);
            assert_eq!(steps(), ["cleaned", "destroyed", "ended", "logged 1"], "{api}{print}");
        }
    }
}

/// The expected exceptions are those of mod_perl 2 under httpd.
#[test]
fn print_in_mod_perl_2_dies_of_an_error_of_apr() {
    let caught = "my ($n, @caught) = 0;
        while (1) { eval { print $text; 1 } and next; push @caught, ref($@) . ' ' . ($@ + 0) . \" $@\"; last if @caught == 2 }
        open my $f, '>', '@DIR@/caught'; print {$f} join \"\\n\", @caught; close $f;";
    let method = "use APR::Error (); until (eval { $r->print($text); 0 } || ref $@) { } my $text = \"$@\"; open my $f, '>', '@DIR@/method'; print {$f} $text; close $f;";
    let server = Site::new()
        .script("scripts/pid.pl", "print \"Content-Type: text/plain\\n\\n$$\";")
        .script("scripts/caught.pl", &format!("{HEAD}use APR::Error ();\n{caught}"))
        .script("scripts/method.pl", &format!("{HEAD}{method}"))
        .script("scripts/uncaught.pl", &format!("{HEAD}while (1) {{\n print $text }}"))
        .serve(&format!("{CONF}{REGISTRY_2}"));
    for script in ["caught", "method", "uncaught"] {
        leaves_in_the_middle_of(&server, &format!("/perl/{script}.pl"));
        server.text("/perl/pid.pl");
    }
    let caught = server.site.read("caught");
    let lines: Vec<_> = caught.lines().filter(|line| !line.is_empty()).collect();
    let place = server.site.filled("at @DIR@/scripts/caught.pl line ");
    for (line, expected) in lines.iter().zip([
        "APR::Error 104 :Apache2 IO write: (104) Connection reset by peer",
        "APR::Error 103 :Apache2 IO write: (103) Software caused connection abort",
    ]) {
        assert!(line.starts_with(expected) && line.contains(&place), "{line}");
    }
    let method = server.site.read("method");
    assert!(method.starts_with("Apache2::RequestIO::print: (104) Connection reset by peer at "), "{method}");
    assert!(method.contains("/scripts/method.pl line "), "{method}");
    let line = server.logged("Apache2 IO write: (104) Connection reset by peer at ");
    assert!(line.contains("/scripts/uncaught.pl line 5"), "{line}");
}

#[test]
fn print_in_mod_perl_1_fails_first_with_a_reason() {
    let perl = "$! = 0; while (print $text) { } my $why = $! + 0; open my $f, '>', '@DIR@/told'; print {$f} $why, ' ', $r->connection->aborted; close $f;";
    let server = Site::new()
        .script("scripts/pid.pl", "print \"Content-Type: text/plain\\n\\n$$\";")
        .script("scripts/tells.pl", &format!("{HEAD}{perl}"))
        .script("scripts/goes_on.pl", &format!("{HEAD}1 while print($text) || 1;"))
        .serve(&format!("{CONF}LogLevel info\n{REGISTRY_1}"));
    for script in ["tells", "goes_on"] {
        leaves_in_the_middle_of(&server, &format!("/perl/{script}.pl"));
        server.text("/perl/pid.pl");
    }
    assert_eq!(server.site.read("told"), "104 1");
    let line = server.logged("the client has disconnected: the program was ended because it continued to print");
    assert!(line.contains(":info]") && line.contains("goes_on.pl"), "{line}");
    assert_eq!(server.log().matches("the client has disconnected").count(), 1, "{}", server.log());
}

/// The front drops the body of a response to HEAD while the client stays connected.
#[test]
fn a_handler_that_answers_head_prints_to_the_end_without_an_error() {
    for api in [REGISTRY_1, REGISTRY_2] {
        let connection = if api == REGISTRY_2 { "use Apache2::RequestRec (); use Apache2::Connection ();" } else { "" };
        let whole = format!(
            "{connection}$| = 1; for (1 .. 200) {{ print $text or die; $r->print($text) or die }}
             open my $f, '>', '@DIR@/told'; print {{$f}} 'whole ', $r->connection->aborted || 0; close $f;"
        );
        let server = Site::new()
            .script("scripts/pid.pl", "print \"Content-Type: text/plain\\n\\n$$\";")
            .script("scripts/whole.pl", &format!("{HEAD}{whole}"))
            .serve(&format!("{CONF}{api}"));
        let worker = server.text("/perl/pid.pl");
        server.send(Request::new("HEAD", "/perl/whole.pl")).is(200);
        assert_eq!(server.text("/perl/pid.pl"), worker);
        assert_eq!(server.site.read("told"), "whole 0", "{}", server.log());
    }
}

#[test]
fn a_reset_http_2_stream_ends_an_endless_script() {
    let server = Site::new()
        .script("scripts/pid.pl", "print \"Content-Type: text/plain\\n\\n$$\";")
        .script("scripts/endless.pl", &format!("{HEAD}while (1) {{ eval {{ print $text }} }}"))
        .serve(&format!("Protocols h2c http/1.1\n{CONF}{REGISTRY_1}"));
    let worker = server.text("/perl/pid.pl");
    let mut client = Raw::open(&server, &[]);
    client.get(1, "/perl/endless.pl");
    client.until(|frame| frame.kind == DATA);
    client.send(RST_STREAM, 0, 1, &CANCEL.to_be_bytes());
    assert_eq!(server.text("/perl/pid.pl"), worker);
}

#[test]
fn a_tls_disconnect_ends_an_endless_script() {
    for version in ["--http1.1", "--http2"] {
        let server = Site::new()
            .certificate("localhost", &["localhost"])
            .script("scripts/pid.pl", "print \"Content-Type: text/plain\\n\\n$$\";")
            .script("scripts/endless.pl", &format!("{HEAD}while (1) {{ eval {{ print $text }} }}"))
            .serve(&format!(
                "Protocols h2 http/1.1\nSSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n{CONF}{REGISTRY_1}"
            ));
        let curl = "curl -sS --noproxy '*' --cacert @DIR@/localhost.crt";
        let run = |command: &str| Finished::of(Command::new("sh").args(["-c", &server.site.filled(command)])).out;
        let pid = format!("{curl} https://localhost:@PORT@/perl/pid.pl");
        let worker = run(&pid);
        run(&format!(
            "{curl} {version} https://localhost:@PORT@/perl/endless.pl 2> /dev/null | head -c 100000 > /dev/null"
        ));
        assert_eq!(run(&pid), worker, "{version}");
    }
}
