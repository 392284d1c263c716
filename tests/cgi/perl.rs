//! `CgiMode program`: a Perl script is a process of its own, as under httpd's mod_cgi. The cases are features on which
//! scripts rely.

use super::{SH, URL, conf, serve};
use crate::support::{Request, Server, Site, until};

const PERL: &str = "#!/usr/bin/perl\n";
const TEXT: &str = "print \"Content-Type: text/plain\\n\\n\";";

/// Serves a Perl script as /cgi/test with one worker.
#[track_caller]
fn serve_perl(text: &str) -> Server {
    serve(&format!("{PERL}{text}"))
}

/// Requests `target` twice from the same worker. Both responses must be `expected`.
#[track_caller]
fn answers(server: &Server, target: &str, expected: &str) {
    for round in 1..=2 {
        assert_eq!(server.text(target), expected, "round {round}");
    }
}

#[test]
fn input_of_one_request_is_gone_for_the_next() {
    let server = serve_perl(&format!(
        "use CGI; my $q = CGI->new; my $name = $q->param('name'); {TEXT} our $out .= $q->query_string; show(); sub show {{ print \"$name $out\" }}"
    ));
    assert_eq!(server.text("/cgi/test?name=Ann"), "Ann name=Ann");
    assert_eq!(server.text("/cgi/test?name=Bob"), "Bob name=Bob");
}

#[test]
fn the_environment_of_a_script_shows_no_embedded_perl() {
    for generation in ["", "PerlGeneration 2\n"] {
        let text = format!("{PERL}{TEXT}print map {{ \"$_=$ENV{{$_}}\\n\" }} sort keys %ENV;");
        let server = Site::new().script("scripts/test", &text).serve(&format!("{generation}{}", conf("")));
        let body = server.text("/cgi/test/more?a=b");
        for line in ["GATEWAY_INTERFACE=CGI/1.1", "PATH_INFO=/more", "QUERY_STRING=a=b", "REQUEST_SCHEME=http"] {
            assert!(body.lines().any(|found| found == line), "{line}: {body}");
        }
        assert!(!body.contains("MOD_PERL") && !body.contains("CAMELEER") && !body.contains("PERL5LIB"), "{body}");
    }
}

#[test]
fn cgi_pm_reads_queries_and_bodies_under_both_generations() {
    for generation in ["", "PerlGeneration 2\n"] {
        let text =
            format!("{PERL}use CGI; my $q = CGI->new; print $q->header('text/plain'), 'x=', scalar $q->param('x');");
        let server = Site::new().script("scripts/test", &text).serve(&format!("{generation}{}", conf("")));
        for _ in 0..2 {
            assert_eq!(server.text("/cgi/test?x=1"), "x=1");
            assert_eq!(server.post(URL, "x=2").is(200).text(), "x=2");
        }
    }
}

#[test]
fn two_scripts_require_one_file_of_subs() {
    let script = format!("{PERL}require './common.pl'; {TEXT} print hello();");
    let server = Site::new()
        .script("scripts/a.pl", &script)
        .script("scripts/b.pl", &script)
        .file("scripts/common.pl", "sub hello { 'hello' } 1;")
        .serve(&conf(""));
    for target in ["/cgi/a.pl", "/cgi/b.pl", "/cgi/a.pl"] {
        assert_eq!(server.text(target), "hello");
    }
}

#[test]
fn exec_syswrite_and_begin_do_what_they_do_in_a_process() {
    let exec = serve_perl(&format!("$| = 1; {TEXT} exec '/bin/echo', 'from exec';"));
    answers(&exec, URL, "from exec\n");
    let raw = serve_perl("syswrite STDOUT, \"Content-Type: text/plain\\n\\nraw \"; print 'printed';");
    answers(&raw, URL, "raw printed");
    let begin = serve_perl(&format!(
        "BEGIN {{ {TEXT} $ENV{{SET}} = 'set'; exit if $ENV{{QUERY_STRING}}; }} print $ENV{{SET}};"
    ));
    answers(&begin, URL, "set");
    answers(&begin, "/cgi/test?1", "");
}

#[test]
fn the_package_of_a_script_is_main_and_its_switches_count() {
    let text = "#!/usr/bin/perl -wl -Ilib\nuse Own; our $x = 5;\nprint \"Content-Type: text/plain\\n\";\n\
        print join ' ', __PACKAGE__, $main::x, $::x, $^W, Own::name(), $0;";
    let server = Site::new()
        .script("scripts/test", text)
        .file("scripts/lib/Own.pm", "package Own; sub name { 'own' } 1;")
        .serve(&conf(""));
    answers(&server, URL, &server.site.filled("main 5 5 1 own @DIR@/scripts/test\n"));
}

#[test]
fn locks_and_pipes_of_a_script_end_with_its_process() {
    let server = serve_perl(&format!(
        "open our $lock, '>', '@DIR@/lock'; flock $lock, 2 or die; open MAIL, '| cat > @DIR@/sent'; print MAIL 'a mail'; {TEXT} print 'ok';"
    ));
    answers(&server, URL, "ok");
    until("what it piped has arrived", || server.site.has("sent") && server.site.read("sent") == "a mail");
    let lock = std::fs::File::open(server.site.path("lock")).expect("it is there");
    lock.try_lock().expect("nobody holds it");
}

#[test]
fn carp_shows_its_page_for_what_dies_at_once_and_for_what_does_not_compile() {
    for (text, message) in
        [("die 'a mistake of mine';", "a mistake of mine"), ("use No::Such;", "Can't locate No/Such.pm")]
    {
        let server = serve_perl(&format!("use CGI::Carp 'fatalsToBrowser'; {text}"));
        for _ in 0..2 {
            let page = server.get(URL).text();
            assert!(page.contains("Software error") && page.contains(message), "{page}");
        }
        server.logged(message.split('/').next().expect("a word"));
    }
}

#[test]
fn a_fastcgi_program_answers_one_request_for_each_process() {
    let text = format!(
        "{PERL}use CGI::Fast; while (my $q = CGI::Fast->new) {{ print $q->header('text/plain'), 'name=', scalar $q->param('name') }}"
    );
    let site = Site::new().script("scripts/test", &text).script("htdocs/a.fcgi", &text);
    let server = site.serve(&format!("{}AddHandler fcgid-script .fcgi\nOptions +ExecCGI\n", conf("")));
    for target in ["/cgi/test", "/a.fcgi"] {
        for name in ["Ann", "Bob"] {
            assert_eq!(server.text(&format!("{target}?name={name}")), format!("name={name}"));
            assert_eq!(server.post(target, &format!("name={name}")).is(200).text(), format!("name={name}"));
        }
    }
}

#[test]
fn a_script_that_dies_is_a_500_and_its_last_words_are_in_the_log() {
    let server = serve_perl("warn 'careful'; die 'broken';");
    server.get(URL).is(500);
    let line = server.logged("broken at ");
    assert!(line.contains("scripts/test line 2") && line.contains(URL), "{line}");
    server.logged("careful at ");
    server.logged("remature end of script headers");
}

#[test]
fn a_file_that_is_no_program_is_refused_as_by_httpd_with_advice_in_the_log() {
    let script = format!("{TEXT} print 'ran';");
    let site = Site::new()
        .script("scripts/bare.pl", &script)
        .script("scripts/dos.pl", &format!("#!/usr/bin/perl\r\n{script}\r\n"))
        .script("scripts/gone.pl", &format!("#!/usr/bin/no-perl -w\n{script}"))
        .file("scripts/plain.pl", &format!("{PERL}{script}"))
        .file("scripts/folder/x", "");
    let server = site.serve(&conf(""));
    for (name, status, logged) in [
        ("bare.pl", 500, "the file has no #! line; write #!/usr/bin/perl as the first line"),
        ("dos.pl", 500, "the first line ends with CR"),
        ("gone.pl", 500, "names a missing interpreter: /usr/bin/no-perl -w"),
        ("plain.pl", 500, "the script is not executable (chmod +x)"),
        ("folder/", 403, "the path is a folder, not a script"),
        ("none.pl", 404, "there is no such file"),
    ] {
        server.get(&format!("/cgi/{name}")).is(status);
        let line = server.logged(logged);
        assert!(line.contains(name.trim_end_matches('/')), "{line}");
    }
}

#[test]
fn a_handler_of_its_own_inside_a_script_alias_wins_as_under_httpd() {
    for generation in [1, 2] {
        let (handler, load, print) = match generation {
            1 => ("PerlHandler", "use Apache ()", "$r->send_http_header('text/plain'); $r->print('handled')"),
            _ => (
                "PerlResponseHandler",
                "use Apache2::RequestRec (); use Apache2::RequestIO ()",
                "$r->content_type('text/plain'); $r->print('handled')",
            ),
        };
        let server = Site::new()
            .script("scripts/test", &format!("{SH}printf ran"))
            .script("scripts/view", &format!("{SH}printf ran"))
            .file("lib/My.pm", &format!("package My; {load}; sub handler {{ my $r = shift; {print}; 0 }} 1;"))
            .serve(&format!(
                "PerlGeneration {generation}\nPerlLib lib\nPerlModule My\n{}<Location /cgi/view>\nSetHandler perl-script\n{handler} My\n</Location>\n",
                conf("")
            ));
        assert_eq!((server.text("/cgi/view").as_str(), server.text(URL).as_str()), ("handled", "ran"));
    }
}

#[test]
fn cgi_mode_of_a_directory_applies_to_its_scripts() {
    let count = format!("{PERL}our $n; {TEXT} print ++$n;");
    let site = Site::new().script("scripts/test", &count).script("scripts/kept/test", &count);
    let lines = "<Directory @DIR@/scripts/kept>\nCgiMode persistent\n</Directory>\n";
    let server = site.serve(&format!("{}{lines}", conf("")));
    for (target, second) in [(URL, "1"), ("/cgi/kept/test", "2")] {
        assert_eq!((server.text(target).as_str(), server.text(target).as_str()), ("1", second), "{target}");
    }
    let bad = Site::new();
    bad.configure("CgiMode often\n");
    bad.cameleer(["check", "-f", "site.conf"]).failed(78, "expected program, fork or persistent, got \"often\"");
}

#[test]
fn signals_that_the_server_ignores_or_blocks_are_as_usual_in_a_program() {
    let server = serve(&format!("{SH}exec cat /proc/self/status"));
    let status = server.text(URL);
    for name in ["SigBlk:", "SigIgn:", "SigCgt:"] {
        let mask = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux has it");
        // Signals above 31 are realtime signals, two of which the C library reserves.
        assert_eq!(u64::from_str_radix(mask.trim(), 16).expect("a mask") & 0x7fff_ffff, 0, "{status}");
    }
}

#[test]
fn the_body_is_read_from_the_beginning_by_whoever_the_script_starts() {
    let server = serve_perl(&format!("$| = 1; {TEXT} system 'cat'; seek STDIN, 0, 0; print <STDIN>;"));
    let body = "x".repeat(200_000);
    assert_eq!(server.send(Request::new("POST", URL).body(body.as_bytes())).is(200).text(), body.repeat(2));
}

#[test]
fn a_script_that_can_answer_once_in_a_process_answers_every_request_in_every_mode() {
    let module =
        |end: &str| format!("package Own; sub import {{ {TEXT} print \"run $ENV{{QUERY_STRING}}\"; {end} }} 1;");
    let site = || {
        Site::new()
            .script("scripts/test", &format!("{PERL}use lib '@DIR@/lib'; use Own;"))
            .script("scripts/exits", &format!("{PERL}use lib '@DIR@/lib'; use Exits;"))
            .script("scripts/away", &format!("{PERL}BEGIN {{ print \"Location: http://example.org/\\n\\n\" }}"))
            .script(
                "scripts/loop",
                &format!(
                    "{PERL}use CGI::Fast; while (my $q = CGI::Fast->new) {{ {TEXT} print 'run ', $q->query_string }}"
                ),
            )
            .script("scripts/usual", &format!("{PERL}our $n; {TEXT} print ++$n;"))
            .file("lib/Own.pm", &module(""))
            .file("lib/Exits.pm", &module("exit;").replace("Own", "Exits"))
    };
    for generation in [1, 2] {
        for mode in ["program", "fork", "persistent"] {
            let server = site().serve(&format!("PerlGeneration {generation}\n{}", conf(&format!("CgiMode {mode}"))));
            for query in ["a=1", "a=2", "a=3"] {
                // mod_perl 2's exit is an exception: a BEGIN block that calls it makes the first request a 500.
                let exits = if generation == 2 && mode == "persistent" { "test" } else { "exits" };
                for name in ["test", exits, "loop"] {
                    let body = server.text(&format!("/cgi/{name}?{query}"));
                    assert_eq!(body, format!("run {query}"), "{name} {mode} {generation}");
                }
                server.get("/cgi/away").is(302);
            }
            // A script that prints when it runs stays in the worker.
            let counts = ["1", "2", "3"].map(|_| server.text("/cgi/usual"));
            assert_eq!(counts, if mode == "persistent" { ["1", "2", "3"] } else { ["1"; 3] }, "{mode} {generation}");
            if mode == "persistent" {
                server.logged(
                    "scripts/test: prints its response while it is compiled, so it runs as a program from now on",
                );
                server.logged("scripts/loop: has a loop of FastCGI requests");
                assert!(!server.log().contains("scripts/usual:"), "{}", server.log());
            }
        }
    }
}

#[test]
fn a_script_that_calls_mod_perl_2_without_its_generation_gets_an_error_with_the_directive() {
    let called = format!("{PERL}{TEXT} Apache2::RequestUtil->request if $ENV{{MOD_PERL}}; print 'process';");
    let site = || Site::new().script("scripts/called", &called);
    let server = site().serve(&conf("CgiMode persistent"));
    server.get("/cgi/called").is(500);
    server.logged("mod_perl 1's; write PerlGeneration 2");
    let server = site().serve(&conf("CgiMode program"));
    assert_eq!(server.text("/cgi/called"), "process");
}

/// Perl has searched the current folder until 5.24.
#[test]
fn a_file_beside_the_script_that_perl_does_not_find_is_logged_with_its_remedy() {
    for mode in ["program", "fork", "persistent"] {
        let text = format!("{PERL}{TEXT}\nrequire \"common.pl\";\n");
        let site = Site::new().script("scripts/test", &text).file("scripts/common.pl", "1;\n");
        let server = site.serve(&format!("CgiMode {mode}\n{}", conf("")));
        server.get("/cgi/test");
        let line = server.logged("common.pl: Perl does not search the script's folder since 5.26; write \"./\" before");
        assert!(line.contains("/cgi/test"), "{mode}: {line}");
        server.logged("Can't locate common.pl in @INC");
    }
    let variable = "SetEnv PERL_USE_UNSAFE_INC 1\n";
    let text = format!("{PERL}require 'common.pl'; {TEXT} print 'ok';\n");
    let site = Site::new().script("scripts/test", &text).file("scripts/common.pl", "1;\n");
    assert_eq!(site.serve(&format!("{variable}{}", conf(""))).text("/cgi/test"), "ok");
}
