//! Reports of `check`, `check --compat` and `advise` about CGI programs: files that cannot run, and scripts that would
//! gain from a `CgiMode`, with the risks.

use crate::support::Site;

const PERL: &str = "#!/usr/bin/perl\nuse strict;\n";

/// A folder of scripts of all kinds, and a script among pages.
fn site() -> Site {
    Site::new()
        .script("cgi/good.cgi", &format!("{PERL}use CGI;\nmy $q = CGI->new;\nprint $q->header('text/plain'), 'ok';\n"))
        .script(
            "cgi/risky.cgi",
            "#!/usr/bin/perl -T\nuse strict;\nuse CGI;\nuse POSIX;\nBEGIN { our $from = $ENV{REMOTE_ADDR} }\nour $count;\nexec '/bin/date' if $count;\n",
        )
        .script("cgi/sub/mark.pl", &format!("{PERL}BEGIN {{ open my $file, '>', '@DIR@/ran' }}\n"))
        .script("cgi/shell", "#!/bin/sh\nexec date\n")
        .file("cgi/plain.pl", &format!("{PERL}print 1;\n"))
        .file("cgi/data.txt", "no program")
        .script("cgi/dos.cgi", "#!/usr/bin/perl\r\nprint 1;\r\n")
        .script("cgi/gone.cgi", "#!/no/such/perl -w\nprint 1;\n")
        .script("cgi/bare.cgi", "print 1;\n")
        .script("htdocs/page.cgi", &format!("{PERL}use POSIX;\nprint 1;\n"))
        .script("htdocs/other.pl", &format!("{PERL}use POSIX;\nprint 1;\n"))
}

const CONF: &str = "ScriptAlias /cgi/ @DIR@/cgi/\nAddHandler cgi-script .cgi\n<Directory @DIR@/htdocs>\nOptions +ExecCGI\n</Directory>\n";

#[test]
fn check_names_files_of_program_folders_that_cannot_run_and_runs_none() {
    let site = site();
    site.configure(CONF);
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    for line in [
        "cgi/plain.pl: the file is not executable, so its requests are answered 500; chmod +x",
        "cgi/dos.cgi: the #! line ends with CR; save the file with Unix line ends",
        "cgi/gone.cgi: the #! line names the missing interpreter \"/no/such/perl\"",
        "cgi/bare.cgi: the file has no #! line",
        "8 CGI scripts in Perl were not compiled, because perl -c runs BEGIN blocks; 3 of them load modules",
    ] {
        assert!(output.err.contains(line), "{line}: {output:?}");
    }
    for name in ["good.cgi", "data.txt", "shell", "page.cgi", "other.pl", "risky.cgi"] {
        assert!(!output.err.contains(name), "{name}: {output:?}");
    }
    assert!(!site.has("ran"), "a BEGIN block has run");
}

#[test]
fn check_names_files_that_perl_no_longer_finds_beside_a_script() {
    let site = Site::new()
        .file("cgi/common.pl", "sub greet { 'hello' }\n1;\n")
        .file("cgi/sub/own.pl", "1;\n")
        .script("cgi/old.cgi", &format!("{PERL}require \"common.pl\";\nrequire 'sub/own.pl'; # own\nprint greet();\n"))
        .script("cgi/new.cgi", &format!("{PERL}require './common.pl';\nrequire CGI;\nrequire 'elsewhere.pl';\n"))
        .script("cgi/lib.cgi", &format!("{PERL}use lib '.';\nrequire 'common.pl';\n"))
        .script("cgi/push.cgi", &format!("{PERL}BEGIN {{ push @INC, '.' }}\nrequire 'common.pl';\n"));
    site.configure(CONF);
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(
        output.err.contains("cgi/old.cgi:3: require \"common.pl\" finds no file: Perl does not search"),
        "{output:?}"
    );
    assert!(output.err.contains("cgi/old.cgi:4: require \"sub/own.pl\" finds no file: "), "{output:?}");
    assert_eq!(output.err.matches("finds no file").count(), 2, "{output:?}");
    site.cameleer(["check", "--red", "-f", "site.conf"]).failed(1, "2 of");
    site.configure(&format!("SetEnv PERL_USE_UNSAFE_INC 1\n{CONF}"));
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(!output.err.contains("finds no file"), "{output:?}");
}

#[test]
fn check_names_what_could_break_where_scripts_stay_compiled() {
    let site = site();
    site.configure(&format!("CgiMode persistent\n{CONF}"));
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    for line in
        ["cgi/risky.cgi:7: exec: replaces the worker", "cgi/risky.cgi:5: our: ", "cgi/risky.cgi:5: %ENV in BEGIN: "]
    {
        assert!(output.err.contains(line), "{line}: {output:?}");
    }
    assert!(!output.err.contains("dos.cgi: the #! line"), "the worker compiles it: {output:?}");
    site.configure(&format!("CgiMode fork\n{CONF}"));
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(
        output.err.contains("cgi/risky.cgi:1: a switch of the #! line: ") && !output.err.contains(": exec:"),
        "{output:?}"
    );
}

#[test]
fn the_survey_shows_what_each_script_would_gain_and_what_could_break_in_it() {
    let site = site();
    site.configure(CONF);
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).succeeded();
    for line in [
        "cgi/good.cgi:1: green CgiMode program: loads CGI for each request, which CgiMode fork does once; no problems were found for CgiMode persistent",
        "cgi/risky.cgi:1: green CgiMode program: loads CGI, POSIX for each request, which CgiMode fork does once",
        "cgi/risky.cgi:1: green a switch of the #! line: under CgiMode fork or persistent: ",
        "cgi/risky.cgi:5: green %ENV in BEGIN: under CgiMode fork or persistent: ",
        "cgi/risky.cgi:7: green exec: under CgiMode persistent: replaces the worker",
        "cgi/plain.pl:1: amber CGI program: the file is not executable",
        "cgi/sub/mark.pl:1: green CgiMode program: loads no module",
        "htdocs/page.cgi:1: green CgiMode program: loads POSIX",
        ", 0 red",
    ] {
        assert!(output.out.contains(line), "{line}: {}", output.out);
    }
    assert!(!site.has("ran"), "a BEGIN block has run");
}

#[test]
fn a_huge_folder_of_programs_is_looked_at_in_part() {
    let site = Site::new();
    for number in 0..1100 {
        site.write(&format!("cgi/{number}.cgi"), PERL);
    }
    site.configure(CONF);
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(output.err.contains("and 980 more files that cannot run"), "{output:?}");
    assert!(
        output.err.contains("the folders of CGI programs are large: not all of their files were checked"),
        "{output:?}"
    );
}

#[test]
fn advise_names_scripts_that_are_compiled_for_each_request() {
    let server = site().serve(CONF);
    let output = server.control(["advise", "--json"]).succeeded();
    let given: serde_json::Value = serde_json::from_str(&output.out).expect("JSON");
    let rule = given["advice"].as_array().expect("a list").iter().find(|one| one["rule"] == "cgi-mode");
    let rule = rule.unwrap_or_else(|| panic!("{given}"));
    assert_eq!(rule["change"], "CgiMode fork");
    let evidence = rule["evidence"].as_str().expect("a sentence");
    for part in [
        "3 CGI scripts load modules for each request, ",
        "cgi/good.cgi for instance CGI",
        "cgi/risky.cgi line 1: a switch of the #! line",
        "cgi/risky.cgi line 5: %ENV in BEGIN",
    ] {
        assert!(evidence.contains(part), "{part}: {evidence}");
    }
}
