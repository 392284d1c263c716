//! A script is a program: `exit`, `die`, `$0`, `@ARGV`, FindBin, its folder, its children.

use super::{CONF, TEXT, URL, serve, serve_text, site};
use crate::support::{Site, is_tainted};

#[test]
fn exit_ends_the_request_and_not_the_worker() {
    let server = serve_text("sub deep { exit } print $$; deep(); print 'never';");
    let pid = server.text(URL);
    assert!(pid.parse::<i32>().is_ok(), "{pid}");
    assert_eq!(server.text(URL), pid);
}

#[test]
fn exit_is_not_stopped_by_an_eval() {
    let server = serve_text("eval { print 'a'; exit }; print 'b';");
    assert_eq!(server.text(URL), "a");
}

#[test]
fn die_is_a_500_whose_text_with_the_scripts_own_line_is_in_the_log() {
    let server = serve("my $x = 1;\n\ndie 'broken';\n");
    let page = server.get(URL).is(500).text();
    assert!(!page.contains("broken"), "{page}");
    let line = server.logged("broken at ");
    assert!(line.contains(&server.site.filled("broken at @DIR@/scripts/test.pl line 3.")), "{line}");
}

#[test]
fn warn_is_logged_with_worker_and_request() {
    let server = serve_text("warn 'careful';");
    assert_eq!(server.get("/perl/test.pl?secret=1").status, 200);
    let line = server.logged("careful at ");
    assert!(line.contains("worker=0") && line.contains("/perl/test.pl"), "{line}");
}

#[test]
fn each_script_runs_in_its_own_folder() {
    let server = site(&format!("{TEXT}use Cwd; print getcwd;"))
        .script("scripts/sub/other.pl", &format!("{TEXT}use Cwd; print getcwd; chdir '/';"))
        .serve(CONF);
    let folder = std::fs::canonicalize(server.site.path("scripts")).expect("it is there");
    assert_eq!(server.text("/perl/sub/other.pl"), format!("{}/sub", folder.display()));
    assert_eq!(server.text(URL), folder.to_string_lossy());
}

#[test]
fn a_script_may_leave_from_a_folder_that_it_removed() {
    let server = serve_text("mkdir 'gone'; chdir 'gone'; rmdir '../gone'; print 'ok';");
    assert_eq!(server.text(URL) + &server.text(URL), "okok");
}

#[test]
fn dollar_zero_is_the_path_as_mapped_and_assignable() {
    let server = serve_text("print $0; $0 = 'renamed';");
    let path = server.site.filled("@DIR@/scripts/test.pl");
    assert_eq!(server.text(URL), path);
    assert_eq!(server.text(URL), path);
}

#[test]
fn dollar_zero_of_a_linked_script_is_the_link() {
    let site = Site::new().script("elsewhere/real.pl", &format!("{TEXT}print $0;"));
    std::os::unix::fs::symlink(site.path("elsewhere/real.pl"), site.path("scripts/link.pl")).expect("linked");
    let server = site.serve(&format!("{CONF}\n<Location /perl>\nOptions +ExecCGI +FollowSymLinks\n</Location>"));
    assert_eq!(server.text("/perl/link.pl"), server.site.filled("@DIR@/scripts/link.pl"));
}

#[test]
fn findbin_finds_the_scripts_folder() {
    let server = site(&format!("{TEXT}use FindBin; print $FindBin::Bin;"))
        .script("scripts/sub/other.pl", &format!("{TEXT}use FindBin; FindBin->again; print $FindBin::Bin;"))
        .serve(CONF);
    let folder = server.site.filled("@DIR@/scripts");
    assert_eq!(server.text(URL), folder);
    assert_eq!(server.text("/perl/sub/other.pl"), format!("{folder}/sub"));
}

#[test]
fn use_lib_relative_to_findbin_works_for_each_script() {
    if is_tainted() {
        return; // in taint mode, perl itself rejects `use lib $FindBin::Bin`
    }
    let script = |name| format!("use FindBin; use lib \"$FindBin::Bin/lib\"; use {name}; {TEXT} print {name}::name();");
    let server = site(&script("One"))
        .script("scripts/b/other.pl", &script("Two"))
        .file("scripts/lib/One.pm", "package One; sub name { 'one' } 1;")
        .file("scripts/b/lib/Two.pm", "package Two; sub name { 'two' } 1;")
        .serve(CONF);
    assert_eq!(server.text(URL), "one");
    assert_eq!(server.text("/perl/b/other.pl"), "two");
}

#[test]
fn argv_holds_the_words_of_an_isindex_query() {
    let server = serve_text("print join '|', @ARGV; push @ARGV, 'left';");
    assert_eq!(server.text("/perl/test.pl?one+two%21"), "one|two!");
    assert_eq!(server.text("/perl/test.pl?a=b"), "");
    assert_eq!(server.text(URL), "");
}

#[test]
fn a_fork_whose_child_falls_out_of_the_script_answers_once() {
    let server = serve_text("my $p = fork; if ($p) { waitpid $p, 0; print 'parent' } else { print 'child' }");
    for _ in 0..3 {
        assert_eq!(server.text(URL), "childparent", "one header, and what each of them printed, as under plain CGI");
    }
}

#[test]
fn a_fork_whose_child_exits_or_dies_answers_once() {
    for end in ["exit", "exit 3", "die 'in the child'", "CORE::exit", "require POSIX; POSIX::_exit(0)"] {
        let server = serve_text(&format!("my $p = fork; if (!$p) {{ {end} }} waitpid $p, 0; print 'parent';"));
        assert_eq!(server.text(URL) + &server.text(URL), "parentparent", "{end}");
    }
}

#[test]
fn the_exit_status_of_a_started_program_is_seen() {
    let server = serve_text(
        r#"$ENV{PATH} = '/usr/bin:/bin'; print system('sh', '-c', 'exit 3') >> 8, ' '; print `sh -c 'exit 4'`, $? >> 8, ' '; print system('true');"#,
    );
    assert_eq!(server.text(URL), "3 4 0");
}

#[test]
fn a_child_may_outlive_its_request() {
    let server = serve_text(
        "if (!fork) { close STDOUT; select undef, undef, undef, 0.01 until -e '@DIR@/go'; open my $f, '>', '@DIR@/done'; CORE::exit } print 'answered';",
    );
    assert_eq!(server.text(URL), "answered");
    server.site.write("go", "");
    crate::support::until("the child has done its work", || server.site.has("done"));
}

#[test]
fn alarm_with_a_local_handler_works() {
    let server = serve_text(
        "my $r = eval { local $SIG{ALRM} = sub { die \"rang\\n\" }; alarm 1; select undef, undef, undef, 15; 'slept' } || $@; print $r;",
    );
    assert_eq!(server.text(URL), "rang\n");
}

#[test]
fn a_goto_out_of_nested_subs_works() {
    let server = serve_text("sub inner { goto DONE } sub run { inner(); print 'never'; DONE: print 'done'; } run();");
    assert_eq!(server.text(URL) + &server.text(URL), "donedone");
}

#[test]
fn a_package_statement_of_a_script_has_effect() {
    let server = serve_text("package Mine; our $n; sub up { ++$n } print up(), __PACKAGE__;");
    assert_eq!(server.text(URL) + &server.text(URL), "1Mine2Mine");
}

#[test]
fn locale_and_time_zone_can_be_set_by_the_script() {
    let server = serve_text("$ENV{TZ} = 'Asia/Tokyo'; require POSIX; POSIX::tzset(); print scalar((localtime 0)[2]);");
    assert_eq!(server.text(URL), "9");
}
