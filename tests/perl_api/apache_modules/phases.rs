//! Modules in the phases and directives in which their documentation configures them.

use super::{CONF, URL, script, with_script};
use crate::support::{Request, Site};

#[test]
fn size_limit_and_gtop_limit_as_fixup_handlers() {
    for (module, set) in [
        ("Apache::SizeLimit", "$Apache::SizeLimit::MAX_UNSHARED_SIZE = 100"),
        ("Apache::GTopLimit", "$Apache::GTopLimit::MAX_PROCESS_UNSHARED_SIZE = 100"),
    ] {
        let site = with_script(Site::new(), "print $$;").file("startup.pl", &format!("use {module}; {set}; 1;"));
        let server = site.serve(&format!("PerlRequire @DIR@/startup.pl\n{CONF}PerlFixupHandler {module}"));
        let first = server.text(URL);
        server.logged(&format!("{module}: pid={first} exits after this request: the unshared part is over 100k"));
        assert_ne!(server.text(URL), first, "{module}");
    }
}

#[test]
fn resource_as_child_init_handler() {
    let server = script(
        "use BSD::Resource; print join ':', getrlimit(RLIMIT_CPU);",
        "PerlModule Apache::Resource\nPerlSetEnv PERL_RLIMIT_CPU 120\nPerlChildInitHandler Apache::Resource",
    );
    assert_eq!(server.text(URL), "120:120");
}

#[test]
fn timeit_and_sig_as_fixup_handlers() {
    let server = script("print ref $SIG{PIPE} || 'none';", "PerlFixupHandler Apache::Timeit Apache::SIG");
    assert_eq!(server.text(URL), "CODE");
    server.logged("timing request for /perl/test.pl:");
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}

#[test]
fn stat_inc_as_init_handler() {
    let site = with_script(Site::new(), "require Word; print Word::word();")
        .file("lib/Word.pm", "package Word; sub word { 'first' } 1;");
    let server = site.serve(&format!("{CONF}PerlModule Apache::StatINC Word\nPerlInitHandler Apache::StatINC"));
    assert_eq!(server.text(URL), "first");
    server.site.write("lib/Word.pm", "package Word; sub word { 'second' } 1;");
    assert_eq!(server.text(URL), "second");
}

#[test]
fn speed_limit_as_access_handler() {
    let server = script(
        "print 'let in';",
        "PerlModule Apache::SpeedLimit\n<Location /perl>\nPerlAccessHandler Apache::SpeedLimit\nPerlSetVar SpeedLimit 20\nPerlSetVar SpeedSamples 2\n</Location>\n\
         PerlEval \"*Apache::SpeedLimit::time_now = sub { Apache->request->args }\"",
    );
    let at = |second: u32| Request::get(&format!("{URL}?{second}"));
    let statuses: Vec<u16> = (1000..1004).map(|second| server.send(at(second)).status).collect();
    assert_eq!(statuses, [200, 200, 403, 403]);
    assert_eq!(server.send(at(1004).header("User-Agent", "another")).status, 200);
}

#[test]
fn include_virtual_puts_a_script_into_a_page() {
    let server = with_script(Site::new(), "use Apache::Include; print '['; my $status = Apache::Include->virtual('/perl/inner.pl'); print \"] $status\"; print ' ', Apache::Include->virtual('/perl/none.pl');")
        .script("scripts/inner.pl", "print \"Content-Type: text/x-inner\\n\\ninner\";")
        .serve(CONF);
    let answer = server.get(URL).is(200);
    assert_eq!(answer.header("content-type").as_deref(), Some("text/plain"));
    assert!(answer.text().starts_with("[inner] "), "{answer:?}");
    assert!(answer.text().ends_with(" 404"), "{answer:?}");
}

#[test]
fn pass_file_has_the_type_that_the_server_knows() {
    let server = Site::new().file("htdocs/look.css", "a { color: red }\n").serve("<Files *.css>\nSetHandler perl-script\nPerlHandler Apache::OutputChain Apache::GzipChain Apache::PassFile\n</Files>");
    let answer = server.send(Request::get("/look.css").header("Accept-Encoding", "gzip")).is(200);
    assert_eq!(
        (answer.header("content-type").as_deref(), answer.header("content-encoding").as_deref()),
        (Some("text/css"), Some("gzip"))
    );
}

#[test]
fn redirect_log_fix_and_symdump_as_log_handlers() {
    let site = Site::new().file("logs/.keep", "").file("lib/Go.pm", "package Go; sub handler { my $r = shift; $r->header_out(Location => 'http://example.org/'); $r->send_http_header; 0 } sub say { $_[0]->warn('logged as ' . $_[0]->status); 0 } 1;");
    let server = site.serve(&format!("{CONF}<Location /go>\nSetHandler perl-script\nPerlHandler Go\nPerlLogHandler Apache::RedirectLogFix Go::say Apache::Symdump\n</Location>"));
    server.get("/go");
    server.logged("logged as 302");
    crate::support::until("the symbols are written", || {
        std::fs::read_dir(server.site.path("logs"))
            .is_ok_and(|names| names.flatten().any(|name| name.file_name().to_string_lossy().starts_with("symdump.")))
    });
}
