//! `CgiMode fork`: a Perl script runs in a child of the worker.

use super::{URL, conf, serve_with};
use crate::support::{Request, Server, Site, alive, until};

const TEXT: &str = "print \"Content-Type: text/plain\\n\\n\";";

#[track_caller]
fn serve(script: &str) -> Server {
    serve_with(script, "CgiMode fork\nRequestTimeoutGrace 60s")
}

#[test]
fn globals_are_fresh_and_compiled_code_is_kept() {
    let server = serve(&format!(
        "BEGIN {{ open my $f, '>>', '@DIR@/compiled'; print $f '.' }} our $n; my $m; {TEXT} $main::other++; print ++$n, ++$m, $main::other, ' ', getppid, ' ', $$;"
    ));
    let (worker, _) = server.workers()[0];
    let first = server.text(URL);
    assert!(first.starts_with(&format!("111 {worker} ")), "{first}");
    let second = server.text(URL);
    assert!(second.starts_with(&format!("111 {worker} ")) && second != first, "{second}");
    assert_eq!(server.site.read("compiled"), ".");
}

#[test]
fn a_run_ends_as_a_process_does() {
    let server = serve(&format!(
        "package Last {{ sub DESTROY {{ open my $f, '>>', '@DIR@/destroyed'; print $f \"$_[0][0] \" }} }}\n\
         our $global = bless ['global'], 'Last'; {TEXT} open our $file, '>', '@DIR@/file'; print $file 'flushed'; print 'said '; \
         END {{ print 'ended' }} exit 3 if $ENV{{QUERY_STRING}} eq 'exit'; die 'broken' if $ENV{{QUERY_STRING}} eq 'die';"
    ));
    assert_eq!(server.text(URL), "said ended");
    assert_eq!(server.text("/cgi/test?exit"), "said ended");
    until("objects are destroyed", || server.site.read("destroyed") == "global global ");
    assert_eq!(server.site.read("file"), "flushed");
    server.get("/cgi/test?die");
    server.logged("broken at ");
    assert_eq!(server.text(URL), "said ended");
}

#[test]
fn a_script_that_does_not_compile_is_a_500_until_it_does() {
    let server = serve("my $x = ;");
    server.get(URL).is(500);
    server.logged("syntax error");
    server.site.write("scripts/test", &format!("{TEXT}print 'mended';"));
    assert_eq!(server.text(URL), "mended");
}

#[test]
fn perl_taint_check_does_not_taint_programs() {
    let script = format!("#!/usr/bin/perl\n{TEXT} print ${{^TAINT}}, ' '; print `echo $ENV{{QUERY_STRING}}`;");
    let server =
        Site::new().script("scripts/test", &script).serve(&format!("PerlTaintCheck On\n{}", conf("CgiMode fork")));
    assert_eq!([server.text("/cgi/test?x"), server.text("/cgi/test?y")], ["0 x\n", "0 y\n"]);
    assert!(!server.log().contains("Insecure dependency"), "{}", server.log());
}

#[test]
fn cgi_pm_and_r_answer_and_bodies_arrive() {
    let server = serve(
        "use CGI; my $q = CGI->new; print $q->header('text/plain'), $q->param('a') || ''; \
         Apache->request->print(' printed') if $ENV{MOD_PERL}; system 'printf \" child\"';",
    );
    for _ in 0..3 {
        let body = server.post(URL, "a=body").is(200).text();
        assert!(body.starts_with("body") && body.ends_with(" child"), "{body}");
    }
    assert!(server.text("/cgi/test?a=query").starts_with("query"));
}

#[test]
fn each_run_draws_numbers_of_its_own() {
    let server = serve(&format!("{TEXT}print rand;"));
    assert_ne!(server.text(URL), server.text(URL));
}

#[test]
fn a_run_that_takes_too_long_is_a_504_with_its_stack_in_the_log() {
    let server = serve_with(
        &format!("sub deep {{ 1 while 1 }} deep() if $ENV{{QUERY_STRING}}; {TEXT} print $$;"),
        "CgiMode fork\nRequestTimeoutGrace 60s\n</Directory>\n<Location /cgi/test/deep>\nRequestTimeout 500ms\n</Location>\n<Directory @DIR@/none>",
    );
    let (worker, _) = server.workers()[0];
    until("a run has come to its loop", || {
        server.get("/cgi/test/deep?1").is(504);
        server.log().contains("deep")
    });
    server.logged("the request took longer than RequestTimeout");
    server.text(URL);
    assert_eq!(server.workers()[0].0, worker);
}

#[test]
fn a_run_that_is_killed_costs_its_own_request() {
    let server = serve(&format!("kill 9, $$ if $ENV{{QUERY_STRING}}; {TEXT} print 'alive';"));
    let (worker, _) = server.workers()[0];
    assert_eq!(server.get("/cgi/test?1").status, 500);
    server.logged("remature end of script headers");
    assert_eq!(server.text(URL), "alive");
    assert_eq!(server.workers()[0].0, worker);
}

/// State set by BEGIN blocks and `use` holds for every run of its script, and for no other script.
#[test]
fn every_run_begins_as_after_compiling() {
    let set = "BEGIN { unshift @INC, '@DIR@/scripts/lib'; umask 027; $/ = 'x'; $ENV{SET} = 'set'; $SIG{USR1} = sub { print 'caught ' } }\n\
        require Later; kill USR1 => $$; print Later::name(), ' ', sprintf('%o', umask), \" $/ $ENV{SET} \", $main::x, our $x;\n\
        $main::x = 'left'; umask 0; $/ = 'y';";
    let other = "print join ' ', sprintf('%o', umask), $/ eq \"\\n\" ? 'lines' : $/, $ENV{SET} // 'unset', $SIG{USR1} // 'none', $main::x // 'clean', grep m{/lib$}, grep m{@DIR@}, @INC;";
    let server = Site::new()
        .script("scripts/test", &format!("#!/usr/bin/perl\nBEGIN {{ $x = 'own' }} {TEXT}\n{set}"))
        .script("scripts/other", &format!("#!/usr/bin/perl\n{TEXT} {other}"))
        .file("scripts/lib/Later.pm", "package Later; sub name { 'later' } 1;")
        .serve(&conf("CgiMode fork"));
    for _ in 0..3 {
        assert_eq!(server.text(URL), "caught later 27 x set ownown");
        assert_eq!(server.text("/cgi/other"), "22 lines unset none clean");
    }
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}

#[test]
fn a_script_that_needs_a_process_has_one() {
    let scripts = [
        ("exec", "$| = 1; TEXT exec '/bin/echo', 'from exec';", "from exec\n"),
        ("raw", "syswrite STDOUT, \"Content-Type: text/plain\\n\\nraw \"; print 'printed';", "raw printed"),
        ("begin", "BEGIN { TEXT print 'begun'; exit } print 'never';", "begun"),
        (
            "env",
            "TEXT print join ' ', __PACKAGE__, $ENV{MOD_PERL} // 'none', $ENV{GATEWAY_INTERFACE}, \"@ARGV\";",
            "main none CGI/1.1 a b",
        ),
        ("trap", "use sigtrap die => 'normal-signals'; TEXT print 'ok';", "ok"),
        ("data", "TEXT print <DATA>;\n__DATA__\nthe data", "the data"),
        ("chatty", "TEXT print 'first '; system 'printf child'; print 'last';", "first childlast"),
    ];
    let site = scripts.iter().fold(Site::new(), |site, (name, text, _)| {
        site.script(&format!("scripts/{name}"), &format!("#!/usr/bin/perl\n{}", text.replace("TEXT", TEXT)))
    });
    let site = site
        .script(
            "scripts/switches",
            "#!/usr/bin/perl -wl -Ilib\nprint \"Content-Type: text/plain\\n\";\nprint $^W; use Own; print Own::name();",
        )
        .script("scripts/taint", &format!("#!/usr/bin/perl -T\n{TEXT} print ${{^TAINT}};"))
        .file("scripts/lib/Own.pm", "package Own; sub name { 'own' } 1;");
    let server = site.serve(&conf("CgiMode fork"));
    for round in 1..=2 {
        for (name, _, expected) in scripts {
            assert_eq!(server.text(&format!("/cgi/{name}?a+b")), expected, "{name}, round {round}");
        }
        assert_eq!(server.text("/cgi/switches"), "1\nown\n", "round {round}");
        assert_eq!(server.text("/cgi/taint"), "1", "round {round}");
    }
}

#[test]
fn a_library_that_two_scripts_require_is_there_for_both() {
    let script = format!("#!/usr/bin/perl\nrequire './common.pl'; {TEXT} print hello();");
    let server = Site::new()
        .script("scripts/a.pl", &script)
        .script("scripts/b.pl", &script)
        .file("scripts/common.pl", "sub hello { 'hello' } 1;")
        .serve(&conf("CgiMode fork"));
    for target in ["/cgi/a.pl", "/cgi/b.pl", "/cgi/a.pl"] {
        assert_eq!(server.text(target), "hello", "{target}");
    }
}

#[test]
fn carp_shows_its_page_and_cgi_pm_answers_under_both_generations() {
    for generation in ["", "PerlGeneration 2\n"] {
        let server = Site::new()
            .script("scripts/dies", "#!/usr/bin/perl\nuse CGI::Carp 'fatalsToBrowser'; die 'a mistake of mine';")
            .script("scripts/broken", "#!/usr/bin/perl\nuse CGI::Carp 'fatalsToBrowser'; use No::Such;")
            .script(
                "scripts/form",
                "#!/usr/bin/perl\nuse CGI; my $q = CGI->new; print $q->header('text/plain'), scalar $q->param('x');",
            )
            .serve(&format!("{generation}PerlModule CGI\n{}", conf("CgiMode fork")));
        for x in ["1", "2"] {
            assert!(server.get("/cgi/dies").text().contains("a mistake of mine"), "{generation}");
            assert!(server.get("/cgi/broken").text().contains("No/Such.pm"), "{generation}");
            assert_eq!(server.text(&format!("/cgi/form?x={x}")), x, "{generation}");
            assert_eq!(server.post("/cgi/form", &format!("x={x}")).is(200).text(), x, "{generation}");
        }
    }
}

#[test]
fn a_stream_leaves_piece_by_piece_and_ends_with_its_client() {
    let server = serve(&format!("{TEXT} $| = 1; print 'x' x 10000 for 1 .. 20000; open my $f, '>', '@DIR@/ended';"));
    let mut connection = server.connect();
    connection.raw(format!("GET {URL} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_eq!(connection.head().status, 200);
    assert!(!connection.chunk().is_empty());
    drop(connection);
    server.until_idle(2);
}

#[test]
fn a_reload_in_the_middle_of_a_run_loses_nothing() {
    let server = serve(&format!(
        "{TEXT} $| = 1; print 'begun'; if ($ENV{{QUERY_STRING}}) {{ print ' ' and select undef, undef, undef, 0.01 until -e '@DIR@/go' }} print 'end';"
    ));
    let mut connection = server.connect();
    connection.raw(format!("GET {URL}?1 HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_eq!(connection.head().status, 200);
    server.reload().succeeded();
    server.site.write("go", "");
    let rest = String::from_utf8_lossy(&connection.rest()).into_owned();
    assert!(rest.contains("end") && rest.ends_with("0\r\n\r\n"), "{rest:.100}");
    assert_eq!(server.send(Request::get(URL)).is(200).text(), "begunend");
}

/// A timeout ends a forked run as it ends a persistent script: by its status while none is sent, otherwise by a broken
/// connection.
#[test]
fn a_run_that_takes_too_long_in_mid_answer_is_answered_as_a_workers_is() {
    let script = format!(
        "my ($flushed, $said, $how) = split /,/, $ENV{{QUERY_STRING}}; $| = $flushed; print \"Status: 200\\n\" if $said eq 'head'; \
         if ($said ne 'head') {{ {TEXT} }} if ($said eq 'words') {{ print 'words' x 1000 }} \
         if ($said eq 'stream') {{ print 'words' x 100_000 }} $how eq 'sleep' ? sleep 60 : 1 while 1;"
    );
    let ends = |mode: &str| {
        let server = serve_with(&script, &format!("{mode}\nRequestTimeout 1s\nRequestTimeoutGrace 60s"));
        ["0,head,loop", "0,nothing,sleep", "0,words,loop", "0,stream,loop", "1,nothing,sleep", "1,words,loop"].map(
            |query| {
                let request = Request::get(&format!("{URL}?{query}")).header("Connection", "close");
                // An error means that the response breaks off.
                (query, server.connect().try_ask(&request).ok().map(|answer| answer.status))
            },
        )
    };
    let (kept, forked) = std::thread::scope(|scope| {
        let kept = scope.spawn(|| ends("CgiMode persistent"));
        (ends("CgiMode fork"), kept.join().expect("it ends"))
    });
    assert_eq!(kept, forked);
    let late = Some(504);
    assert_eq!(kept.map(|(_, status)| status), [late, late, late, None, None, None]);
}

#[test]
fn a_run_that_outlives_its_grace_is_a_504_and_ends_with_its_worker() {
    let server = serve_with(
        &format!("{TEXT} print 'begun'; open my $f, '>', '@DIR@/pid'; print $f $$; close $f; 1 while 1;"),
        "CgiMode fork\nRequestTimeout 300ms\nRequestTimeoutGrace 0",
    );
    until("a run has begun", || {
        server.get(URL).is(504);
        !server.site.read("pid").is_empty()
    });
    let run = server.site.read("pid").parse().expect("a pid");
    until("the program has ended", || !alive(run));
}

#[test]
fn a_begin_block_that_forks_leaves_one_worker_that_answers() {
    let text = "#!/usr/bin/perl\nBEGIN { my $child = fork // die; exit if !$child; waitpid $child, 0 }\n\
        print \"Content-Type: text/plain\\n\\nparent\";";
    let server = super::serve_with(text, "CgiMode fork");
    assert_eq!(server.text(super::URL) + &server.text(super::URL), "parentparent");
    let fallen = "#!/usr/bin/perl\nBEGIN { fork // die }\nprint \"Content-Type: text/plain\\n\\none of two\";";
    let server = super::serve_with(fallen, "CgiMode fork");
    for _ in 0..2 {
        assert_eq!(server.get(super::URL).is(200).text(), "one of two");
    }
    assert!(!server.log().contains("fatal runtime error"), "{}", server.log());
}

#[test]
fn a_library_that_two_scripts_require_while_they_are_compiled_extends_inc_for_both() {
    let script = |name: &str| {
        format!(
            "#!/usr/bin/perl\nBEGIN {{ unshift @INC, '.'; require 'setlib.cfg'; }} use Own; {TEXT} print '{name} ', Own::name(), ' ', hello();"
        )
    };
    let server = Site::new()
        .script("scripts/test", &script("test"))
        .script("scripts/other", &script("other").replace("use Own;", "require Own; require Later;"))
        .file("scripts/setlib.cfg", "@INC = ('@DIR@/lib', grep { $_ ne '.' } @INC); sub hello { 'hello' } 1;")
        .file("lib/Own.pm", "package Own; sub name { 'own' } 1;")
        .file("lib/Later.pm", "package Later; 1;")
        .serve(&conf("CgiMode fork"));
    for _ in 0..2 {
        assert_eq!(server.text(URL), "test own hello");
        assert_eq!(server.text("/cgi/other"), "other own hello");
    }
    assert!(!server.log().contains("redefined"), "{}", server.log());
}

#[test]
fn the_text_behind_the_end_mark_belongs_to_the_scripts_package() {
    let script = format!("#!/usr/bin/perl\npackage Blog; {TEXT} print <DATA>;\n__END__\none\ntwo\n");
    let server = Site::new().script("scripts/test", &script).serve(&conf("CgiMode fork"));
    assert_eq!([server.text(URL), server.text(URL)], ["one\ntwo\n", "one\ntwo\n"]);
}

#[test]
fn programs_that_a_script_starts_write_to_their_pipes() {
    let script = format!(
        "{TEXT} my $said = `echo command`; open my $pipe, '-|', 'echo', 'pipe' or die; $said .= <$pipe>; close $pipe; \
         pipe my $from, my $to or die; my $child = fork // die; \
         if (!$child) {{ close $from; print $to scalar `echo grandchild`; close $to; exec 'true' }} \
         close $to; $said .= <$from>; waitpid $child, 0; print $said;"
    );
    let server = serve(&script);
    for _ in 0..2 {
        assert_eq!(server.text(URL), "command\npipe\ngrandchild\n");
    }
}
