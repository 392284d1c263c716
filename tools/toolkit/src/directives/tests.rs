use clap::Parser;

use super::program::one_line;
use super::*;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    run: Run,
}

fn check(line: &str, around: Surroundings, expected: &str) {
    let words = std::iter::once("run").chain(line.split(' ').filter(|word| !word.is_empty()));
    let run = Cli::try_parse_from(words.map(|word| word.replace('~', " "))).expect("parsed").run;
    assert_eq!(text(&run, &around), expected, "{line}");
}

fn text(run: &Run, around: &Surroundings) -> String {
    of(run, around).expect("directives").into_iter().map(|option| option.directives).collect()
}

fn site() -> Surroundings {
    let folder = std::env::temp_dir().join(format!("cameleer-run-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("cgi-bin")).expect("folder");
    for (name, text) in [("app.psgi", "sub {}"), ("info", "#!/usr/bin/perl\n")] {
        // Rename atomically: another test may read the file at the same time.
        let (file, new) = (folder.join(name), folder.join(format!("{name}.{:?}", std::thread::current().id())));
        std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, file)).expect("file");
    }
    Surroundings { folder, ..Surroundings::default() }
}

fn pool(n: u32) -> String {
    format!("StartServers {n}\nMinSpareServers {n}\nMaxSpareServers {n}\nMaxClients {n}\n")
}

#[test]
fn without_options_app_psgi_is_served_as_plackup_does() {
    let (around, pool) = (site(), pool(5));
    let folder = around.folder.display().to_string();
    check(
        "",
        around,
        &format!(
            "Listen 0.0.0.0:5000\n{pool}PerlPassEnv PLACK_ENV\nPsgiApp {folder}/app.psgi\n<Location />\n    SetHandler psgi\n</Location>\n"
        ),
    );
}

#[test]
fn a_script_answers_below_its_path_and_a_persistent_one_is_preloaded() {
    let pool = pool(5);
    let folder = site().folder.display().to_string();
    check("info -p 80", site(), &format!("Listen 0.0.0.0:80\n{pool}ScriptAlias / {folder}/info/\n"));
    check(
        "info -p 80 -I a -I b",
        site(),
        &format!(
            "Listen 0.0.0.0:80\n{pool}PerlLib {folder}/a\nPerlLib {folder}/b\nPerlSetEnv PERL5LIB {folder}/a:{folder}/b\n\
             ScriptAlias / {folder}/info/\n"
        ),
    );
    for mode in ["fork", "persistent"] {
        check(
            &format!("info -p 80 --cgi-mode {mode}"),
            site(),
            &format!(
                "Listen 0.0.0.0:80\n{pool}CgiMode {mode}\nScriptAlias / {folder}/info/\nRegistryPreload / {folder}/info\n"
            ),
        );
    }
}

#[test]
fn the_mode_of_scripts_is_one_of_three_and_for_scripts_only() {
    for (line, expected) in [
        (["run", "info", "--cgi-mode", "often"], "--cgi-mode: expected program, fork or persistent, got \"often\""),
        (["run", "app.psgi", "--cgi-mode", "fork"], "--cgi-mode: applies only to CGI scripts and folders of them"),
    ] {
        let run = Cli::try_parse_from(line).expect("parsed").run;
        assert_eq!(of(&run, &site()).expect_err("refused").to_string(), expected);
    }
}

#[test]
fn a_folder_is_a_script_alias_with_a_list() {
    let around = site();
    let folder = around.folder.display().to_string();
    check(
        "cgi-bin -l :81 -l a.sock --workers 2",
        around,
        &format!(
            "Listen 0.0.0.0:81\nListen {folder}/a.sock\n{}\
             AliasMatch \"^/(index\\\\.html)?$\" \"{folder}/cgi-bin/$1\"\nScriptAlias / {folder}/cgi-bin/\n\
             <LocationMatch \"^/$\">\n    DirectoryIndex index.html\n    Options +Indexes\n    IndexIgnore .*\n</LocationMatch>\n",
            pool(2)
        ),
    );
}

#[test]
fn files_beside_an_application_are_found_by_a_condition() {
    let around = site();
    let folder = around.folder.display().to_string();
    let run = Cli::try_parse_from(["run", "--static", "cgi-bin", "app.psgi"]).expect("parsed").run;
    let text = text(&run, &around);
    assert!(text.contains(&format!("DocumentRoot {folder}/cgi-bin\n<If \"%{{REQUEST_URI}} =~ m#[.](?:")), "{text}");
    assert!(text.contains("-f '%{DOCUMENT_ROOT}%{REQUEST_URI}'\">\n    SetHandler none\n</If>\n"), "{text}");
}

#[test]
fn addresses_may_be_written_as_mojolicious_does() {
    let pool = pool(5);
    let rest = "PerlPassEnv PLACK_ENV\nPsgiEval 1\n<Location />\n    SetHandler psgi\n</Location>\n";
    for (spelled, address) in
        [("http://*:8080", "0.0.0.0:8080"), ("http://127.0.0.1:81/", "127.0.0.1:81"), ("http://[::1]:82", "[::1]:82")]
    {
        check(&format!("-e 1 -l {spelled}"), Surroundings::default(), &format!("Listen {address}\n{pool}{rest}"));
    }
    for (spelled, expected) in [
        ("https://*:443", "expected http://HOST:PORT; for TLS write HOST:PORT:ssl, or use --tls for all addresses"),
        ("http://localhost", "expected http://HOST:PORT, without a path or parameters"),
        ("http://*:80?reuse=1", "expected http://HOST:PORT, without a path or parameters"),
    ] {
        let run = Cli::try_parse_from(["run", "-e", "1", "-l", spelled]).expect("parsed").run;
        let error = of(&run, &site()).expect_err("refused").to_string();
        assert_eq!(error, format!("--listen {spelled}: {expected}"));
    }
}

#[test]
fn the_format_of_the_access_log_is_a_name_or_a_format() {
    for (format, expected) in [("", "combined"), (" --log-format %h~%s", "\"%h %s\"")] {
        let (line, pool) = (format!("-e 1 -p 80 --access-log -{format}"), pool(5));
        let rest = "PerlPassEnv PLACK_ENV\nPsgiEval 1\n<Location />\n    SetHandler psgi\n</Location>\n";
        check(&line, Surroundings::default(), &format!("Listen 0.0.0.0:80\n{pool}CustomLog - {expected}\n{rest}"));
    }
}

#[test]
fn the_last_module_without_a_program_is_the_handler() {
    let around = Surroundings { env: vec!["HOME".into(), "PATH".into()], ..Surroundings::default() };
    check(
        "-M CGI -M My::Handler -o localhost --max-requests 100-200",
        around,
        &format!(
            "Listen localhost:5000\n{}MaxRequestsPerChild 100-200\nPerlPassEnv HOME PATH\nPerlModule CGI\n\
         PerlModule My::Handler\n<Location />\n    SetHandler perl-script\n    PerlHandler My::Handler\n</Location>\n",
            pool(5)
        ),
    );
}

#[test]
fn code_is_quoted() {
    check(
        "-e sub~{[200,[],[\"\\n\"]]}",
        Surroundings::default(),
        &format!(
            "Listen 0.0.0.0:5000\n{}PerlPassEnv PLACK_ENV\nPsgiEval \"sub {{[200,[],[\\\"\\\\n\\\"]]}}\"\n\
         <Location />\n    SetHandler psgi\n</Location>\n",
            pool(5)
        ),
    );
}

#[test]
fn directives_of_the_command_line_come_last() {
    let run = Cli::try_parse_from(["run", "-C", "KeepAlive Off", "-C", "Timeout 5"]).expect("parsed").run;
    let text = text(&run, &site());
    assert!(text.ends_with("</Location>\nKeepAlive Off\nTimeout 5\n"), "{text}");
}

#[test]
fn in_development_an_application_is_loaded_by_its_module() {
    let mut run = Cli::try_parse_from(["run", "-e", "sub { 'x' }"]).expect("parsed").run;
    run.program.in_development = true;
    let text = text(&run, &site());
    assert!(
        text.contains(
            r#"PsgiEval "require Cameleer::Development; Cameleer::Development::load_code('sub { \\'x\\' }', '')""#
        ),
        "{text}"
    );
}

#[test]
fn code_of_several_lines_becomes_one() {
    assert_eq!(one_line("# $x\n\"a\""), "eval \"# \\$x\\n\\\"a\\\"\" || die $@");
}

#[test]
fn the_environment_of_hosts_is_honoured_and_options_win() {
    let heroku = || Surroundings { port: Some("81".into()), concurrency: Some("3".into()), ..site() };
    let run =
        |line: &[&str]| Cli::try_parse_from(std::iter::once("run").chain(line.iter().copied())).expect("parsed").run;
    assert!(text(&run(&[]), &heroku()).starts_with("Listen 0.0.0.0:81\nStartServers 3\n"));
    let directives = text(&run(&["-p", "82", "--workers", "4"]), &heroku());
    assert!(directives.starts_with("Listen 0.0.0.0:82\nStartServers 4\n"), "{directives}");
}

#[test]
fn wrong_spellings_are_named() {
    let run = Cli::try_parse_from(["run", "-l", "localhost:http"]).expect("parsed").run;
    let error = of(&run, &site()).expect_err("no port").to_string();
    let expected = "expected HOST:PORT, :PORT, PORT or the path of a unix socket, with :ssl at its end for TLS";
    assert_eq!(error, format!("--listen localhost:http: {expected}"));
}
