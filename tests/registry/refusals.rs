//! Files that Apache::Registry does not run.

use super::{CONF, TEXT, URL, serve_text, site};

#[test]
fn a_missing_script_is_a_404() {
    serve_text("1;").get("/perl/none.pl").is(404);
}

#[test]
fn a_script_that_may_not_be_executed_is_a_403() {
    let server = serve_text("1;");
    server.site.write("scripts/plain.pl", &format!("{TEXT}print 'secret source';"));
    let page = server.get("/perl/plain.pl").is(403).text();
    assert!(!page.contains("secret source"), "{page}");
    server.logged("plain.pl");
}

#[test]
fn without_exec_cgi_nothing_runs() {
    let server =
        site(&format!("{TEXT}print 'ran';")).serve(&format!("{CONF}\n<Location /perl>\nOptions -ExecCGI\n</Location>"));
    server.get(URL).is(403);
    server.logged("ExecCGI");
}

#[test]
fn a_folder_is_no_script() {
    serve_text("1;").get("/perl/").is(403);
}

#[test]
fn a_path_out_of_the_folder_is_refused() {
    let server = serve_text("print 'ran';");
    server.site.write("outside.pl", "1;");
    for path in ["/perl/../outside.pl", "/perl/%2e%2e/outside.pl", "/perl/..%2foutside.pl"] {
        let status = server.get(path).status;
        assert!([400, 403, 404].contains(&status), "{path}: {status}");
    }
}

#[test]
fn a_path_with_perl_code_is_a_name_like_any_other() {
    let server = serve_text("print 'ran';");
    server.site.write("scripts/x;system('touch @DIR@/hacked');.pl", "1;");
    server.get("/perl/x;system('touch%20hacked');.pl");
    server.get("/perl/@%7B[system('touch%20hacked')]%7D.pl").is(404);
    assert!(!server.site.has("hacked") && !server.site.has("scripts/hacked"));
}
