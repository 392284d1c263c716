//! Small modules: SIG, FakeRequest, httpd_conf, Opcode, Options, src, hooks, RedirectLogFix.

use super::{CONF, URL, script};
use crate::support::{Finished, Server, Site};

#[test]
fn a_broken_pipe_ends_the_request() {
    let server = script(
        "use Apache::SIG; Apache::SIG->set; $ENV{PATH} = '/usr/bin:/bin'; print 'before'; open my $p, '|-', '/bin/true'; waitpid -1, 0; select((select($p), $| = 1)[0]); print $p 'x' x 1e6; print 'after';",
        "",
    );
    assert_eq!(server.text(URL), "before");
    server.logged("SIGPIPE: the reader has gone");
}

#[test]
fn fake_request_runs_a_handler_from_a_command_line() {
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/perl/lib");
    let code = "use Apache::FakeRequest; my $r = Apache::FakeRequest->new(uri => '/x', args => 'a=1&b', vars => { V => 'v' }, headers => { Host => 'h' }); \
                my %a = $r->args; $r->send_http_header('text/plain'); $r->print(join '|', $r->uri, $a{a}, $r->dir_config('V'), $r->header_in('Host'), $r->method, $r->custom('kept') // 'undef', $r->custom)";
    let finished = Finished::of(std::process::Command::new("perl").args(["-I", library, "-e", code])).succeeded();
    assert_eq!(finished.out, "Content-Type: text/plain\n\n/x|1|v|h|GET|undef|kept");
}

#[test]
fn httpd_conf_writes_a_site_that_starts() {
    let site = Site::new();
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/perl/lib");
    let write = format!(
        "use Apache::httpd_conf; print Apache::httpd_conf->write(Port => {}, MaxRequestsPerChild => 5)",
        site.port
    );
    let file =
        Finished::of(std::process::Command::new("perl").args(["-I", library, "-e", &write]).current_dir(site.folder()))
            .succeeded()
            .out;
    assert!(file.ends_with("/t/conf/httpd.conf"), "{file}");
    let site = site.script("t/perl/hello.pl", "print \"Content-Type: text/plain\\n\\nhello\";");
    let mut command = site.command(["serve", "-f"]);
    command.arg(&file);
    let server = Server::start(site, command);
    assert_eq!(server.text("/perl/hello.pl"), "hello");
}

#[test]
fn httpd_conf_is_an_object_with_a_method_for_each_directive() {
    let site = Site::new();
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/perl/lib");
    // Sources: t/modules/httpdconf.t of mod_perl 1.31, and lib/Apache/httpd_conf.pm.
    let code = "use Apache::httpd_conf; my $c = Apache::httpd_conf->new(base => 'httpd_conf'); $c->write(Port => 8888); \
        print join '|', $c->Port, -e 'httpd_conf/conf/httpd.conf', (map { !!$c->$_ } qw(DocumentRoot ErrorLog)), $c->server_url, \
        $c->Port(1), $c->Port, eval { $c->no_such } // $@ =~ /has no method no_such/";
    let output =
        Finished::of(std::process::Command::new("perl").args(["-I", library, "-e", code]).current_dir(site.folder()));
    assert_eq!(output.succeeded().out, "8888|1|1|1|http://localhost:8888|8888|1|1");
}

#[test]
fn httpd_conf_starts_and_stops_its_server() {
    let site = Site::new();
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/perl/lib");
    let code = format!(
        "use Apache::httpd_conf; use HTTP::Tiny; my $c = Apache::httpd_conf->new(base => 'base', Port => {}, ServerName => '127.0.0.1'); \
         $c->write; $c->server_start or die; my $pid = $c->pid; print HTTP::Tiny->new->get($c->server_url . '/none')->{{status}}, ' '; \
         print $c->server_stop, ' '; select undef, undef, undef, 0.02 while kill 0, $pid; print 'stopped'",
        site.port
    );
    let mut perl = std::process::Command::new("perl");
    perl.args(["-I", library, "-e", &code]).env("CAMELEER", env!("CARGO_BIN_EXE_cameleer")).current_dir(site.folder());
    let output = Finished::of(&mut perl).succeeded().out;
    assert!(output.ends_with("404 1 stopped"), "behind what the server says as it starts: {output}");
}

#[test]
fn denied_operators_do_not_compile() {
    let server =
        script("print system('true');", "PerlModule Apache::Opcode\nPerlEval \"Apache::Opcode->deny(':subprocess')\"");
    server.get(URL).is(500);
    server.logged("'system' trapped by operation mask");
}

#[test]
fn constants_sources_and_hooks() {
    let server = script(
        "use Apache::Options; use Apache::src; use mod_perl_hooks; print OPT_EXECCGI, ' ', eval { Apache::src->new->inc } // $@, join ' ', mod_perl::hooks();",
        "",
    );
    let text = server.text(URL);
    assert!(text.starts_with("8 Apache::src->inc: modules in C for httpd cannot be built here"), "{text}");
    assert!(text.contains("ChildInit") && text.contains("Handler"), "{text}");
    // Source: mmn_eq in lib/Apache/src.pm. libapreq's Makefile.PL and tests call it as a class method.
    let server =
        script("use Apache::src; print Apache::src->mmn_eq, ' ', Apache::src->new->module_magic_number > 19980317", "");
    assert_eq!(server.text(URL), "1 1");
}

#[test]
fn a_test_script_fetches_from_the_server_and_a_handler_prints_results() {
    let server = script("use Apache::test; test 1, 1; Apache::test->test(2, 0); skip_test(); test 3, 1;", "");
    assert_eq!(server.text(URL), "ok 1\nnot ok 2\n1..0\n");
    let library = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/perl/lib");
    let address = format!("127.0.0.1:{}", server.site.port);
    let script = "test 1, fetch($ARGV[0]) eq qq(ok 1\\nnot ok 2\\n1..0\\n); test 2, simple_fetch($ARGV[0]); test 3, !simple_fetch('/none'); \
        test 4, have_module('CGI', 3); test 5, !have_module('No::Such'); skip_test(); test 6, 0";
    for module in ["Apache::test", "Apache::testold"] {
        let mut perl = std::process::Command::new("perl");
        perl.args([library, &format!("-M{module}"), "-e", script, URL]).env("APACHE_TEST_SERVER", &address);
        let output = Finished::of(&mut perl).succeeded().out;
        assert_eq!(output, "ok 1\nok 2\nok 3\nok 4\nok 5\n1..0\n", "{module}");
    }
}

#[test]
fn bundle_apache_lists_its_modules() {
    let code = "require Bundle::Apache; print Bundle::Apache->VERSION; open my $in, '<', $INC{'Bundle/Apache.pm'} or die; \
        my ($list) = join('', <$in>) =~ /^=head1 CONTENTS\\n(.*?)^=/ms; \
        for my $name ($list =~ /^([\\w:]+)/mg) { print eval \"require $name; 1\" ? '+' : \" $name: $@\" }";
    assert_eq!(script(code, "").text(URL), format!("1.02{}", "+".repeat(13)));
}

#[test]
fn redirect_log_fix_shows_a_redirect_to_later_log_handlers() {
    let server = Site::new()
        .file("lib/Go.pm", "package Go; use Apache::RedirectLogFix; sub handler { my $r = shift; $r->header_out(Location => 'http://example.org/'); \
            $r->push_handlers(PerlLogHandler => [\\&Apache::RedirectLogFix::handler, sub { $_[0]->warn('logged as ' . $_[0]->status); 0 }]); $r->send_http_header; 0 } 1;")
        .serve(&format!("{CONF}<Location /go>\nSetHandler perl-script\nPerlHandler Go\n</Location>"));
    server.get("/go");
    server.logged("logged as 302");
}

#[test]
fn the_signal_is_as_before_when_the_request_is_over() {
    let server = script("use Apache::SIG; Apache::SIG::handler($r); print ref $SIG{PIPE};", "");
    assert_eq!([server.text(URL), server.text(URL)], ["CODE", "CODE"]);
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}
