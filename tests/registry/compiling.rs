//! A script is compiled once per worker, and again when its file changes.

use std::time::Duration;

use super::{CONF, TEXT, URL, serve_text, site};
use crate::support::Site;

#[test]
fn a_script_is_compiled_once_and_its_globals_persist() {
    let server = serve_text("our $n; print ++$n;");
    assert_eq!(server.text(URL) + &server.text(URL) + &server.text(URL), "123");
}

#[test]
fn file_lexicals_start_anew_with_each_request() {
    let server = serve_text("my $n; print ++$n;");
    assert_eq!(server.text(URL) + &server.text(URL), "11");
}

#[test]
fn a_script_is_compiled_again_when_its_mtime_changed() {
    let server = serve_text("our $n; print 'old ', ++$n;");
    server.site.age("scripts/test.pl", Duration::from_secs(100));
    assert_eq!(server.text(URL), "old 1");
    server.site.write("scripts/test.pl", &format!("{TEXT}print 'new';"));
    server.site.age("scripts/test.pl", Duration::from_secs(50));
    assert_eq!(server.text(URL), "new");
    server.site.write("scripts/test.pl", &format!("{TEXT}print 'restored from a backup';"));
    server.site.age("scripts/test.pl", Duration::from_secs(5000));
    assert_eq!(server.text(URL), "restored from a backup", "older is a change as well");
}

#[test]
fn a_script_that_does_not_compile_is_a_500_with_its_own_line_in_the_log() {
    let server = super::serve("print 1;\nprint 2;\nmy $x = ;\n");
    let page = server.get(URL).is(500).text();
    assert!(!page.contains("syntax error"), "{page}");
    let line = server.logged("syntax error");
    assert!(line.contains("scripts/test.pl line 3"), "{line}");
}

#[test]
fn a_script_that_was_broken_works_again_once_it_is_mended() {
    let server = super::serve("my $x = ;");
    server.site.age("scripts/test.pl", Duration::from_secs(100));
    server.get(URL).is(500);
    server.site.write("scripts/test.pl", &format!("{TEXT}print 'mended';"));
    assert_eq!(server.text(URL), "mended");
}

#[test]
fn each_script_has_a_package_of_its_own() {
    let server = serve_text("our $shared = 'first'; print __PACKAGE__;");
    let server_package = server.text(URL);
    assert!(server_package.starts_with("Apache::ROOT::"), "{server_package}");
    assert!(server_package.ends_with("::perl::test_2epl"), "{server_package}");
}

#[test]
fn variables_of_one_script_are_not_seen_by_another() {
    let server = site(&format!("{TEXT}our $x = 'mine';"))
        .script("scripts/other.pl", &format!("{TEXT}our $x; print defined $x ? $x : 'nothing';"))
        .serve(CONF);
    server.get(URL);
    assert_eq!(server.text("/perl/other.pl"), "nothing");
}

#[test]
fn subs_of_a_script_are_callable_again_and_again() {
    let server = serve_text("sub twice { 2 * $_[0] } print twice(21);");
    assert_eq!(server.text(URL) + &server.text(URL), "4242");
}

#[test]
fn data_and_end_sections_are_read_anew_by_each_request() {
    for mark in ["__DATA__", "__END__"] {
        let server = serve_text(&format!("print <DATA>;\n{mark}\none\ntwo\n"));
        assert_eq!(server.text(URL), "one\ntwo\n", "{mark}");
        assert_eq!(server.text(URL), "one\ntwo\n", "{mark}");
    }
}

#[test]
fn the_shebang_lines_w_switches_warnings_on() {
    let server = super::serve(&format!("#!/usr/bin/perl -w\n{TEXT}my $x; print 'a' . $x;"));
    assert_eq!(server.text(URL), "a");
    assert!(server.logged("uninitialized").contains("line 3"), "{}", server.log());
}

#[test]
fn begin_blocks_run_when_compiled_and_end_blocks_after_the_request() {
    let server =
        serve_text("our ($b, $e); BEGIN { $b++ } END { open my $f, '>>', '@DIR@/end'; print $f 'x' } print $b;");
    assert_eq!(server.text(URL), "1");
    assert_eq!(server.text(URL), "1");
    crate::support::until("END has run twice", || server.site.read("end") == "xx");
}

#[test]
fn scripts_preloaded_in_the_mold_are_compiled_once_for_all_workers() {
    let server = Site::new()
        .script(
            "scripts/test.pl",
            &format!("BEGIN {{ open my $f, '>>', '@DIR@/compiled'; print $f \"$$\\n\" }}\n{TEXT}print 'ok';"),
        )
        .serve(&format!("{CONF}\nMaxClients 2\nRegistryPreload /perl/test.pl \"@DIR@/scripts/test.pl\"\n"));
    for _ in 0..6 {
        assert_eq!(server.text(URL), "ok");
    }
    assert_eq!(server.site.read("compiled").lines().count(), 1);
}

#[test]
fn variables_that_do_not_stay_shared_are_one_warning_for_each_script() {
    let code = "use warnings;\nmy ($first, $second, @third) = (1, 2, 3);\nsub shown { return \"$first $second @third $first\" }\nprint shown();\n";
    let server = serve_text(code);
    assert_eq!(server.text(URL), "1 2 3 1");
    let line = server.logged("will not stay shared");
    assert!(line.contains("Variable \"$first\"") && line.contains("$second, @third"), "{line}");
    assert_eq!(server.log().matches("will not stay shared").count(), 1, "{}", server.log());
}

#[test]
fn warnings_of_compiling_come_to_the_scripts_own_hook_as_before() {
    let code = "our @seen;\nBEGIN { $SIG{__WARN__} = sub { push @seen, 'seen: ', @_ } }\nuse warnings;\nmy $x = 1;\nmy $x = 2;\nprint @seen;\n";
    let seen = serve_text(code).text(URL);
    assert!(seen.starts_with("seen: \"my\" variable $x masks"), "{seen}");
}
