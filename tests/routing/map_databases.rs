//! `RewriteMap name dbm:…`, `dbd:…` and `fastdbd:…`

use std::process::Command;

use crate::support::{Finished, Site};

#[test]
fn maps_in_dbm_files_and_sqlite_have_values() {
    let site = ["ana", "ben", "default"]
        .into_iter()
        .fold(Site::new(), |site, name| site.file(&format!("htdocs/{name}.txt"), name))
        .file("map.txt", "a ana\nb ben\n");
    let run = |program: &str, arguments: &[&str]| {
        Finished::of(Command::new(program).args(arguments).current_dir(site.path(""))).succeeded()
    };
    for format in ["SDBM", "DB", "GDBM"] {
        run("httxt2dbm", &["-f", format, "-i", "map.txt", "-o", &format!("map.{format}")]);
    }
    run("sh", &["-c", "chmod 644 map*"]);
    run("sqlite3", &["map.sqlite", "create table map (k, v); insert into map values ('a', 'ana'), ('b', 'ben')"]);
    let server = site.serve(
        "DBDriver sqlite3\nDBDParams @DIR@/map.sqlite\nRewriteEngine On\n\
         RewriteMap default \"dbm:@DIR@/map.DB\"\nRewriteMap sdbm dbm=sdbm:map.SDBM\nRewriteMap gdbm dbm=gdbm:@DIR@/map.GDBM\n\
         RewriteMap sql \"dbd:SELECT v FROM map WHERE k = %s\"\nRewriteMap fast \"fastdbd:SELECT v FROM map WHERE k = %s\"\n\
         RewriteMap wrong \"dbd:SELECT none FROM map WHERE k = %s\"\n\
         RewriteRule ^/default/(.*) /${default:$1|default}.txt\nRewriteRule ^/sdbm/(.*) /${sdbm:$1|default}.txt\n\
         RewriteRule ^/gdbm/(.*) /${gdbm:$1|default}.txt\nRewriteRule ^/sql/(.*) /${sql:$1|default}.txt\n\
         RewriteRule ^/fast/(.*) /${fast:$1|default}.txt\nRewriteRule ^/wrong/(.*) /${wrong:$1|default}.txt\n",
    );
    for map in ["default", "sdbm", "gdbm", "sql", "fast"] {
        for (key, value) in [("a", "ana"), ("b", "ben"), ("c", "default"), ("a'", "default"), ("a", "ana")] {
            assert_eq!(server.text(&format!("/{map}/{key}")), value, "{map} {key}");
        }
    }
    assert_eq!(server.text("/wrong/a"), "default");
    server.logged("RewriteMap: SQLite");
}
