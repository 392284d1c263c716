use std::fs::File;
use std::os::unix::fs::symlink;

use super::{contents, has_rows};
use crate::support::Site;

const CONF: &str =
    "ServerName localhost\nErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\n";

fn site(more: &str) -> Site {
    Site::new().file("old/httpd.conf", &format!("{CONF}{more}"))
}

#[test]
fn an_include_that_leads_back_to_itself_becomes_a_comment() {
    let site = site("Include a.conf\n").file("old/a.conf", "ServerTokens Prod\nInclude b.conf\n");
    site.write("old/b.conf", "Include a.conf\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let row = "@DIR@/old/b.conf:1: Include: @DIR@/old/a.conf includes itself; remove this line";
    has_rows(&site, "new/report.txt", "To be decided", &[row]);
    assert!(site.read("new/b.conf").contains("\n# Include a.conf\n"), "{}", site.read("new/b.conf"));
}

#[test]
fn devices_huge_and_binary_files_are_reported_at_their_line_and_not_read() {
    let site = site("Include zero.conf\nInclude huge.conf\nInclude binary.conf\n");
    symlink("/dev/zero", site.path("old/zero.conf")).expect("a link in TMPDIR");
    File::create(site.path("old/huge.conf")).and_then(|file| file.set_len(100 << 20)).expect("a file in TMPDIR");
    site.write_bytes("old/binary.conf", b"\x7fELF\0\0");
    site.cameleer(["migrate", "old", "--to", "new"]).failed(1, "does not pass cameleer check yet");
    has_rows(
        &site,
        "new/report.txt",
        "To be decided",
        &[
            "@DIR@/old/httpd.conf:5: Include: cannot read @DIR@/old/zero.conf: the path is a device, not a file; correct the path, or make it readable",
            "@DIR@/old/httpd.conf:6: Include: cannot read @DIR@/old/huge.conf: the file is longer than 16M; correct the path, or make it readable",
            "@DIR@/old/httpd.conf:7: Include: cannot read @DIR@/old/binary.conf: it is not a text; correct the path, or make it readable",
        ],
    );
    assert!(!site.has("new/huge.conf"));
}

#[test]
fn a_missing_include_is_a_decision_that_stops_the_new_server() {
    let site = site("Include none.conf\n");
    site.cameleer(["migrate", "old", "--to", "new"]).failed(1, "new/report.txt says what is left to decide");
    let text = site.read("new/report.txt");
    assert!(text.contains("/old/httpd.conf:5: Include: cannot read "), "{text}");
}

#[test]
fn a_folder_of_all_files_ends_the_search_for_includes() {
    let site = site("IncludeOptional /proc/self/task\n");
    let output = site.cameleer(["migrate", "old", "--to", "new"]);
    assert!(output.code == 0 || output.code == 1, "{output:?}");
}

#[test]
fn unusable_input_is_a_wrong_command_line() {
    let site = site("");
    for (source, what) in [
        ("htdocs", "none of apache2.conf, httpd.conf"),
        ("old/no.conf", "cannot read this configuration"),
        ("/dev/zero", "the path is a device"),
    ] {
        site.cameleer(["migrate", source, "--to", "new"]).failed(2, what);
        assert!(!site.has("new"), "{source}");
    }
    site.write("old/empty.conf", "# nothing\n");
    site.cameleer(["migrate", "old/empty.conf", "--to", "new"])
        .failed(2, "not a configuration of httpd: no directives");
}

#[test]
fn nothing_is_overwritten_and_nothing_is_written_into_the_old_folder() {
    let site = site("").file("full/own.txt", "mine");
    site.cameleer(["migrate", "old", "--to", "full"]).failed(2, "is not empty; name a new folder");
    site.cameleer(["migrate", "old", "--to", "old/new"]).failed(2, "is inside the old configuration");
    site.cameleer(["migrate", "old", "--to", "old/httpd.conf"]).failed(2, "is inside the old configuration");
    assert!(!site.has("old/new") && site.read("full/own.txt") == "mine");
}

#[test]
fn no_spelling_of_the_new_folder_leads_into_the_old_one() {
    let site = Site::new().file("old/conf/httpd.conf", CONF);
    std::fs::create_dir(site.path("old/empty")).expect("a folder in TMPDIR");
    symlink(site.path("old/empty"), site.path("link")).expect("a link in TMPDIR");
    symlink(site.path("old/none"), site.path("dangling")).expect("a link in TMPDIR");
    let before = contents(&site.path("old"));
    for to in ["old/conf/x/y", "old/x", "q/../old/zz", "link", "link/x", "q/../link/../x"] {
        site.cameleer(["migrate", "old", "--to", to]).failed(2, "is inside the old configuration");
    }
    site.cameleer(["migrate", "old", "--to", "dangling"]).failed(2, "No such file");
    assert_eq!(contents(&site.path("old")), before);
    assert!(!site.has("old/x") && !site.has("old/zz") && !site.has("old/conf/x") && !site.has("q"));
    site.cameleer(["migrate", "old", "--to", "q/../new/x"]).succeeded();
    assert!(site.has("new/x/httpd.conf") && !site.has("q"));
}

#[test]
fn a_path_that_no_line_can_name_is_a_wrong_command_line() {
    let site = site("");
    for to in ["a\nUser root", "a\x1b[2J", "a${HOME}"] {
        site.cameleer(["migrate", "old", "--to", to]).failed(2, "a configuration cannot name this path");
    }
    std::fs::rename(site.path("old"), site.path("o\nld")).expect("our own folder");
    site.cameleer(["migrate", "o\nld", "--to", "new"]).failed(2, "o\\nld/httpd.conf: a configuration cannot name");
    assert!(!site.has("new"));
}

#[test]
fn a_copy_of_a_file_from_elsewhere_stays_below_the_new_folder() {
    let site =
        site("Include ../elsewhere/more.conf\n").file("elsewhere/more.conf", "ServerTokens Prod\nMutex file:/x\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let copy = format!("new/outside{}", site.path("elsewhere/more.conf").display());
    assert!(site.read(&copy).contains("ServerTokens Prod\n# migrate: Mutex: "), "{copy}");
    assert_eq!(site.read("elsewhere/more.conf"), "ServerTokens Prod\nMutex file:/x\n");
}

#[test]
fn files_that_include_each_other_many_times_end_at_the_limit() {
    let site = Site::new().file("old/httpd.conf", &format!("{CONF}Include 0.conf\n"));
    // The sum of the lengths has the limit; short files would only take longer to reach it.
    let comment = format!("# {}\n", "x".repeat(4096));
    for number in 0..40 {
        site.write(
            &format!("old/{number}.conf"),
            &format!("{comment}Include {0}.conf\nInclude {0}.conf\n", number + 1),
        );
    }
    site.write("old/40.conf", "ServerTokens Prod\n");
    site.cameleer(["migrate", "old", "--to", "new"]).failed(2, "the files of the configuration exceed 64 MB");
    assert!(!site.has("new"));
}
