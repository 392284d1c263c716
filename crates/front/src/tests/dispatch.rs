//! Which worker answers a request, and which requests wait.

use super::Server;
use super::worker::{LARGE, Script};

#[test]
fn a_script_is_handed_to_a_worker_and_never_sent() {
    let conf = "DocumentRoot ROOT/www\nDirectoryIndex index.html index.cgi\n<Files *.cgi>\nSetHandler cgi-script\n</Files>\n\
        ScriptAlias /cgi-bin/ ROOT/cgi/\n";
    let server = Server::with_workers(conf, 1, Script::default());
    for folder in ["www/dir", "cgi"] {
        std::fs::create_dir_all(server.root().join(folder)).expect("a folder");
    }
    for script in ["www/a.cgi", "www/dir/index.cgi", "cgi/b"] {
        std::fs::write(server.root().join(script), "#!secret").expect("written");
    }
    let mut client = server.client();
    for path in ["/a.cgi", "/a.cgi/more", "/dir/", "/cgi-bin/b", "/cgi-bin/none"] {
        assert_eq!(client.get(path).text(), "hello", "{path}");
    }
    assert_eq!(client.get("/dir/none.html").status, 404);
}

#[test]
fn a_slow_reader_delays_only_its_own_worker() {
    let app = "<Location />\nSetHandler perl-script\nPerlHandler X\n</Location>\n";
    let server = Server::with_workers(app, 2, Script::default());
    let mut slow = server.client();
    slow.send("GET /app/large HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(slow.head().status, 200);
    for _ in 0..20 {
        assert_eq!(server.client().get("/").text(), "hello");
    }
    let answer = slow.rest_of_chunks();
    assert!(!answer.cut);
    assert_eq!(answer.body.len(), LARGE * 32 * 1024);
}
