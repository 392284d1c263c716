//! How a CGI program is executed, its environment, and the meaning of its header. The cases are those of RFC 3875 and
//! mod_cgi.

use super::{SH, URL, conf, serve, serve_with};
use crate::support::{Request, Site};

#[test]
fn a_program_of_the_shell_is_executed_and_not_compiled_as_perl() {
    let server = serve(&format!("{SH}x=`echo ran by the shell`\necho \"$x $0 $$\"\n"));
    let first = server.text(URL);
    assert!(first.starts_with(&format!("ran by the shell {}", server.site.filled("@DIR@/scripts/test"))), "{first}");
    assert_ne!(server.text(URL), first, "a process each");
}

#[test]
fn a_program_has_the_variables_of_rfc_3875_and_none_of_the_server() {
    let server = serve(&format!("{SH}env"));
    let request = Request::post("/cgi/test/more/path?a=b", "12345").header("X-Own", "own");
    let body = server.send(request).is(200).text();
    for line in [
        "GATEWAY_INTERFACE=CGI/1.1",
        "REQUEST_METHOD=POST",
        "SCRIPT_NAME=/cgi/test",
        "PATH_INFO=/more/path",
        "QUERY_STRING=a=b",
        "CONTENT_LENGTH=5",
        "SERVER_PROTOCOL=HTTP/1.1",
        "REMOTE_ADDR=127.0.0.1",
        "HTTP_X_OWN=own",
        "SERVER_NAME=localhost",
    ] {
        assert!(body.lines().any(|found| found == line), "{line} is missing in {body}");
    }
    assert!(body.lines().any(|line| line.starts_with("PATH=/")) && body.contains("SERVER_SOFTWARE="), "{body}");
    for name in ["MOD_PERL", "CAMELEER_", "HTTP_PROXY="] {
        assert!(!body.contains(name), "{name} in {body}");
    }
}

#[test]
fn a_program_reads_the_body_in_its_folder_and_has_the_words_of_a_query() {
    let server = serve(&format!("{SH}pwd -P; cat; echo \" $# $1 $2\""));
    let folder = std::fs::canonicalize(server.site.path("scripts")).expect("it is there");
    let folder = folder.display();
    for size in [0, 10, 3 << 20] {
        let body = vec![b'x'; size];
        let text = server.send(Request::new("POST", URL).body(body)).is(200).text();
        assert_eq!(text, format!("{folder}\n{} 0  \n", "x".repeat(size)));
    }
    assert_eq!(server.text("/cgi/test?one+t%77o"), format!("{folder}\n 2 one two\n"));
    assert_eq!(server.text("/cgi/test?one=two"), format!("{folder}\n 0  \n"));
}

#[test]
fn the_header_of_a_program_is_read_like_that_of_a_script() {
    let server = serve(
        "#!/bin/sh\nprintf 'Status: 404 Nothing Here\\r\\nX-A: b\\r\\nContent-Type: text/x-own\\r\\n\\r\\nnothing'\n",
    );
    let response = server.get(URL).is(404);
    assert_eq!((response.header("x-a").as_deref(), response.text().as_str()), (Some("b"), "nothing"));
    let server = serve("#!/bin/sh\nprintf 'Location: http://example.org/x\\n\\n'\n");
    assert_eq!(server.get(URL).is(302).header("location").as_deref(), Some("http://example.org/x"));
    let site = Site::new()
        .file("htdocs/page.html", "the page")
        .script("scripts/test", "#!/bin/sh\nprintf 'Location: /page.html\\n\\n'\n");
    assert_eq!(site.serve(&conf("")).text(URL), "the page");
    let site =
        Site::new().script("scripts/nph-test", "#!/bin/sh\nprintf 'HTTP/1.0 203 Own\\r\\nX-A: b\\r\\n\\r\\nbody'\n");
    assert_eq!(site.serve(&conf("")).get("/cgi/nph-test").is(203).text(), "body");
}

#[test]
fn a_program_without_a_header_is_a_500() {
    for text in ["#!/bin/sh\n", "#!/bin/sh\necho no header at all\n"] {
        let server = serve(text);
        server.get(URL).is(500);
        server.logged("header");
    }
}

#[test]
fn a_file_that_cannot_be_executed_is_a_500_with_file_and_reason() {
    let server = serve("#!/no/such/interpreter\n");
    server.get(URL).is(500);
    let line = server.logged("No such file or directory");
    assert!(line.contains(&server.site.filled("@DIR@/scripts/test: cannot be executed")), "{line}");
    let site = Site::new().script("scripts/test", "\u{7f}ELF\u{2}\u{1}\u{1}\0 broken");
    let server = site.serve(&conf(""));
    server.get(URL).is(500);
    server.logged("Exec format error");
}

#[test]
fn a_program_that_is_not_executable_or_has_no_leave_is_refused() {
    for mode in ["program", "fork"] {
        let server =
            Site::new().file("scripts/test", &format!("{SH}echo ran")).serve(&conf(&format!("CgiMode {mode}")));
        server.get(URL).is(500);
        server.logged("scripts/test failed, reason: the script is not executable (chmod +x)");
    }
    let server = Site::new().script("htdocs/test.cgi", &format!("{SH}echo ran")).serve("AddHandler cgi-script .cgi\n");
    server.get("/test.cgi").is(403);
    server.logged("ExecCGI");
}

#[test]
fn a_binary_is_executed() {
    let site = Site::new();
    // A file that this process writes may be open in a child of another test, and is then no program ("text file
    // busy").
    let copy = std::process::Command::new("cp").arg("/usr/bin/date").arg(site.path("scripts/date")).status();
    assert!(copy.expect("coreutils are there").success());
    let server = site.serve(&conf(""));
    // Backslashes and line ends would have a backslash before them, and %n does not.
    assert_eq!(server.text("/cgi/date?%2BContent-Type:%20text/plain%25n%25nbinary"), "binary\n");
}

#[test]
fn cgi_mode_persistent_compiles_scripts_of_any_perl() {
    for line in ["#!/usr/bin/env perl", "#!perl -w", "#!/usr/local/bin/perl5.8", "#!/usr/bin/env -S perl -w", ""] {
        let script = format!("{line}\nour $n; print \"Content-Type: text/plain\\n\\n\", ++$n;");
        let server = serve_with(&script, "CgiMode persistent");
        assert_eq!(server.text(URL) + &server.text(URL), "12", "{line}");
    }
}

#[test]
fn a_file_that_becomes_a_program_is_executed_from_then_on() {
    let script = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\nperl\";";
    let server = serve_with(script, "CgiMode persistent");
    assert_eq!(server.text(URL), "perl");
    server.site.write("scripts/test", &format!("{SH}printf shell"));
    assert_eq!(server.text(URL), "shell");
}

#[test]
fn rlimit_directives_limit_a_cgi_program() {
    let text =
        format!("{SH}ulimit -S -t; ulimit -H -t; ulimit -S -v; awk '/Max processes/ {{ print $3 }}' /proc/self/limits");
    let server = serve_with(&text, "RLimitCPU 7 9\nRLimitMEM 536870912 max\nRLimitNPROC 5000");
    assert_eq!(server.text(URL), "7\n9\n524288\n5000\n");
}

#[test]
fn a_program_may_be_run_alone() {
    let server = Site::new().script("hello.sh", &format!("{SH}printf \"hello $PATH_INFO\"")).run(["hello.sh"]);
    assert_eq!(server.text("/you"), "hello /you");
    let server = Site::new()
        .script("bin/one", &format!("{SH}printf one"))
        .script("bin/two.pl", "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\ntwo\";")
        .run(["bin"]);
    assert_eq!(server.text("/one") + &server.text("/two.pl"), "onetwo");
}
