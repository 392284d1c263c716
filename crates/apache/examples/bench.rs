#[path = "../tests/support/mod.rs"]
mod support;
use support::{Ask, Server};
fn main() {
    use std::os::unix::fs::PermissionsExt;
    let mut server = Server::boot();
    let root = "/tmp/bench-root";
    std::fs::create_dir_all(format!("{root}/cgi")).unwrap();
    std::fs::write(format!("{root}/cgi/a.pl"), "print \"Content-type: text/plain\\n\\nHello\";").unwrap();
    std::fs::set_permissions(format!("{root}/cgi/a.pl"), std::fs::Permissions::from_mode(0o755)).unwrap();
    server.place.exec_cgi = true;
    let headers: &[(&[u8], &[u8])] = &[(b"host", b"h:1"), (b"user-agent", b"wrk"), (b"accept", b"*/*")];
    for (name, handler, path, send_header) in [
        ("empty", "sub { 0 }", "/app/x", false),
        ("hello", "sub { my $r = shift; $r->send_http_header('text/plain'); $r->print('Hello'); 0 }", "/app/x", false),
        ("registry", "Apache::Registry", "/cgi/a.pl", true),
    ] {
        server.place.send_header = send_header;
        let handler = server.perl.resolve_handler(handler).unwrap();
        let n = 100_000;
        let start = std::time::Instant::now();
        for _ in 0..n { server.bench(&handler, &Ask { path, root, headers, ..Ask::default() }); }
        eprintln!("{name}: {:.2} us", start.elapsed().as_micros() as f64 / n as f64);
    }
    std::process::exit(0);
}
