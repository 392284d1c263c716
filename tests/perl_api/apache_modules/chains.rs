//! Apache::OutputChain, GzipChain, PassFile; Apache::Filter and Compress.

use std::io::Read;

use crate::support::{Request, Response, Server, Site};

const LINKS: &str = "package My::Upper; use parent 'Apache::OutputChain';
sub handler { Apache::OutputChain::handler($_[0], __PACKAGE__) }
sub PRINT { my $self = shift; $self->Apache::OutputChain::PRINT(map { uc } @_) }
package My::Framed; use parent 'Apache::OutputChain';
sub handler { Apache::OutputChain::handler($_[0], __PACKAGE__) }
sub PRINT { my $self = shift; $self->{seen} .= join '', @_; 1 }
sub finish { my $self = shift; $self->Apache::OutputChain::PRINT(\"[$self->{seen}]\") }
package My::Producer;
sub handler { my $r = shift; $r->send_http_header('text/plain'); print 'made '; printf '%s-%d', 'by', 3; exit if $r->args eq 'exit'; print ' hand'; 0 }
package My::Double; sub handler { my $r = shift->filter_register; my ($in, $status) = $r->filter_input; return $status if $status; print \"$_$_\" while <$in>; 0 }
package My::Last; sub handler { my $r = shift->filter_register; $r->send_http_header('text/x-last'); my ($in) = $r->filter_input; local $/; print '<', <$in>, '>', $r->filter_first, $r->deterministic; 0 }
1;";

fn serve(conf: &str) -> Server {
    Site::new()
        .file("lib/My.pm", LINKS)
        .file("htdocs/page.html", &"<p>hello & welcome</p>\n".repeat(200))
        .file("htdocs/one.txt", "one\n")
        .serve(&format!("MaxClients 1\nStartServers 1\nMinSpareServers 1\nPerlLib lib\nPerlModule Apache::OutputChain Apache::Filter My\n{conf}"))
}

fn handlers(path: &str, handlers: &str) -> String {
    format!("<Location {path}>\nSetHandler perl-script\nPerlHandler {handlers}\n</Location>\n")
}

const GZIP: &str = "<Files *.html>\nSetHandler perl-script\nPerlHandler Apache::OutputChain Apache::GzipChain Apache::PassFile\n</Files>\n<Files *.bin>\nSetHandler perl-script\nPerlHandler Apache::OutputChain Apache::GzipChain Apache::PassFile\n</Files>";

fn accepting(server: &Server, path: &str, codings: &str) -> Response {
    server.send(Request::get(path).header("Accept-Encoding", codings))
}

/// The gzip body of `response`, uncompressed by gzip.
fn unpacked(response: &Response) -> String {
    let mut child = std::process::Command::new("gzip")
        .arg("-dc")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("gzip is installed");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), &response.body).expect("gzip reads");
    let mut text = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut text).expect("text");
    assert!(child.wait().expect("our child").success(), "not gzip: {response:?}");
    text
}

#[test]
fn output_of_a_handler_passes_the_links_from_right_to_left() {
    let server = serve(
        &[
            handlers("/upper", "Apache::OutputChain My::Upper My::Producer"),
            handlers("/both", "Apache::OutputChain My::Upper My::Framed My::Producer"),
            handlers("/other", "Apache::OutputChain My::Framed My::Upper My::Producer"),
        ]
        .concat(),
    );
    assert_eq!(server.text("/upper"), "MADE BY-3 HAND");
    assert_eq!(server.text("/both"), "[MADE BY-3 HAND]");
    assert_eq!(server.text("/other"), "[MADE BY-3 HAND]");
    assert_eq!(server.text("/both?exit"), "[MADE BY-3]", "a producer that exits");
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}

#[test]
fn gzip_chain_compresses_for_clients_that_accept_it() {
    let server = serve(GZIP);
    let page = server.site.read("htdocs/page.html");
    let plain = server.get("/page.html").is(200);
    assert_eq!((plain.text(), plain.header("content-encoding")), (page.clone(), None));
    let packed = accepting(&server, "/page.html", "deflate, gzip;q=0.5").is(200);
    assert_eq!(packed.header("content-encoding").as_deref(), Some("gzip"));
    assert_eq!(packed.header("vary").as_deref(), Some("Accept-Encoding"));
    assert_eq!(packed.header("content-type").as_deref(), Some("text/html"));
    assert!(packed.body.len() * 10 < page.len(), "a factor over 10: {}", packed.body.len());
    assert_eq!(unpacked(&packed), page);
    for refusing in ["identity", "gzip;q=0", "*;q=0", "br"] {
        assert_eq!(accepting(&server, "/page.html", refusing).is(200).header("content-encoding"), None, "{refusing}");
    }
}

#[test]
fn gzip_chain_lets_the_header_pass_that_a_script_prints() {
    let script = "print 'Content-Type: text/x-made', \"\\nContent-Length: 2000\\nX-Own: 1\\n\"; print \"\\nbody \"; print 'x' x 1995;";
    let moved = "print \"Status: 302\\nLocation: http://example.org/\\n\\n\";";
    let server = Site::new().script("scripts/made.pl", script).script("scripts/moved.pl", moved).serve(
        "MaxClients 1\nStartServers 1\nMinSpareServers 1\nAlias /perl/ \"@DIR@/scripts/\"\n<Location /perl>\nSetHandler perl-script\n\
         PerlHandler Apache::OutputChain Apache::GzipChain Apache::Registry\nPerlSendHeader On\nOptions +ExecCGI\n</Location>",
    );
    let packed = accepting(&server, "/perl/made.pl", "gzip").is(200);
    assert_eq!(packed.header("content-type").as_deref(), Some("text/x-made"));
    assert_eq!(
        (packed.header("x-own").as_deref(), packed.header("content-encoding").as_deref()),
        (Some("1"), Some("gzip"))
    );
    assert_eq!(unpacked(&packed), format!("body {}", "x".repeat(1995)));
    assert_eq!(server.text("/perl/made.pl").len(), 2000);
    let moved = accepting(&server, "/perl/moved.pl", "gzip").is(302);
    assert_eq!(
        (moved.header("location").as_deref(), moved.header("content-encoding")),
        (Some("http://example.org/"), None)
    );
}

#[test]
fn a_file_that_is_not_there_is_a_plain_404() {
    let server = serve(GZIP);
    let none = accepting(&server, "/none.html", "gzip").is(404);
    assert_eq!(none.header("content-encoding"), None);
    assert!(none.text().contains("404"), "{none:?}");
}

#[test]
fn filters_read_what_the_one_before_printed() {
    let server = serve(
        &[handlers("/one.txt", "My::Double My::Double My::Last"), handlers("/none", "My::Double My::Last")].concat(),
    );
    let answer = server.get("/one.txt").is(200);
    assert_eq!(answer.text(), "<one\none\none\none\n>01");
    assert_eq!(answer.header("content-type").as_deref(), Some("text/x-last"));
    server.get("/none").is(404);
    assert_eq!(server.text("/one.txt"), "<one\none\none\none\n>01", "again in the same worker");
}

#[test]
fn compress_alone_and_behind_a_filter() {
    let server = serve(
        &[handlers("/page.html", "Apache::Compress"), handlers("/one.txt", "My::Double Apache::Compress")].concat(),
    );
    assert_eq!(unpacked(&accepting(&server, "/page.html", "gzip").is(200)), server.site.read("htdocs/page.html"));
    let packed = accepting(&server, "/one.txt", "gzip").is(200);
    assert_eq!(
        (unpacked(&packed).as_str(), packed.header("content-encoding").as_deref()),
        ("one\none\n", Some("gzip"))
    );
    assert_eq!(server.text("/one.txt"), "one\none\n");
}

#[test]
fn embperl_chain_dies_with_alternatives() {
    let site = Site::new();
    site.configure("PerlModule Apache::EmbperlChain");
    let finished = crate::support::Finished::of(&mut site.serve_command());
    assert_ne!(finished.code, 0);
    assert!(finished.err.contains("HTML::Embperl is a module in C linked against httpd"), "{finished:?}");
}
