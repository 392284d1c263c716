//! `cameleer run script.cgi` and `cameleer run cgi-bin/`.

use super::TEXT;
use crate::support::Site;

#[test]
fn a_single_script_answers_every_path() {
    let server = Site::new()
        .script("hello.cgi", &format!("#!/usr/bin/perl\n{TEXT}print \"hello $ENV{{PATH_INFO}} $ENV{{QUERY_STRING}}\";"))
        .run(["hello.cgi"]);
    assert_eq!(server.text("/?a=b"), "hello / a=b");
    assert_eq!(server.text("/x/y?c"), "hello /x/y c");
}

#[test]
fn a_folder_serves_its_scripts_by_name() {
    let server = Site::new()
        .script("cgi-bin/one.cgi", &format!("{TEXT}print 'one';"))
        .script("cgi-bin/two.pl", &format!("{TEXT}our $n; print 'two ', ++$n, ' ', $ENV{{PATH_INFO}} || '';"))
        .run_with_one_worker(["cgi-bin/"]);
    assert_eq!(server.text("/one.cgi"), "one");
    assert_eq!(server.text("/two.pl/more"), "two 1 /more");
    assert_eq!(server.text("/two.pl"), "two 2 ");
    server.get("/three.cgi").is(404);
}
