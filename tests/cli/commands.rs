//! The command line: subcommands, options, environment, help.

use std::collections::BTreeMap;

use crate::support::{Server, Site, alive, children, until};

const APP: &str = "sub { [200, [], [\"$$ $ENV{PLACK_ENV}\"]] }";

#[test]
fn each_help_fits_a_screen_and_is_the_checked_in_text() {
    let site = Site::new();
    let own = site.cameleer(["--help"]).succeeded().out;
    let commands = commands(&own);
    assert!(commands.len() > 20, "{commands:?}");
    let of = |command: &&str| (command.to_string(), site.cameleer([command, "--help"]).succeeded().out);
    let mut helps: BTreeMap<String, String> = commands.iter().map(of).collect();
    helps.insert("cameleer".to_owned(), own.clone());
    for (name, help) in &helps {
        assert!(help.lines().count() <= 40, "{name}: {} lines", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{name}");
        golden(&format!("help/{name}.txt"), help);
    }
    for file in std::fs::read_dir(format!("{GOLDEN}/help")).expect("the folder").flatten() {
        let name = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(helps.contains_key(&name), "{}: cameleer has no command {name}", file.path().display());
    }
}

/// The names in the list of commands of `cameleer --help`.
pub fn commands(help: &str) -> Vec<&str> {
    let (_, list) = help.split_once("\nCommands:\n").expect("a list of commands");
    list.lines().map_while(|line| line.strip_prefix("  ")).filter_map(|line| line.split(' ').next()).collect()
}

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

/// Compares `text` with a checked-in file; `CAMELEER_BLESS=1` rewrites the file.
fn golden(name: &str, text: &str) {
    let path = format!("{GOLDEN}/{name}");
    if std::env::var_os("CAMELEER_BLESS").is_some() {
        std::fs::create_dir_all(std::path::Path::new(&path).parent().expect("a folder")).expect("made");
        std::fs::write(&path, text).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{path}: look at the difference, then CAMELEER_BLESS=1");
}

#[test]
fn a_man_page_is_printed_from_the_same_source() {
    let page = Site::new().cameleer(["man"]).succeeded().out;
    assert!(page.contains(".TH cameleer") && page.contains("serve"), "{page}");
    let directives = Site::new().cameleer(["man", "directives"]).succeeded().out;
    assert!(
        directives.starts_with(".TH cameleer.conf 5 ") && directives.contains("\n.SS MaxClients\n"),
        "{directives}"
    );
}

#[test]
fn a_wrong_option_is_a_2_and_the_option_is_named() {
    for wrong in [["run", "--nonsense"], ["nonsense", "x"], ["run", "--workers=many"]] {
        let output = Site::new().cameleer(wrong);
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.err.contains("nonsense") || output.err.contains("many"), "{output:?}");
    }
}

#[test]
fn run_prints_one_line_with_the_url() {
    let server = Site::new().file("app.psgi", APP).run(["app.psgi"]);
    let contents = server.site.read("out.txt");
    assert_eq!(contents.lines().count(), 1, "{contents}");
    assert!(contents.contains(&format!("http://127.0.0.1:{}/", server.site.port)), "{contents}");
}

#[test]
fn every_option_of_run_is_also_a_variable() {
    let site = Site::new().file("other.psgi", APP);
    let mut command = site.command(["run"]);
    command.env("CAMELEER_LISTEN", format!("127.0.0.1:{}", site.port));
    for (name, value) in
        [("APP", "other.psgi"), ("WORKERS", "1"), ("ENV", "test"), ("PID", "run.pid"), ("ACCESS_LOG", "access.log")]
    {
        command.env(format!("CAMELEER_{name}"), value);
    }
    let server = Server::start(site, command);
    assert!(server.text("/").ends_with(" test"));
    assert_eq!(server.site.read("run.pid").trim(), server.pid().to_string());
    until("the request is logged", || server.site.read("access.log").contains("GET / HTTP/1.1"));
    assert_eq!(server.workers().len(), 1);
}

#[test]
fn port_and_web_concurrency_are_honoured() {
    let site = Site::new().file("app.psgi", APP);
    let mut command = site.command(["run", "-o", "127.0.0.1"]);
    command.env("PORT", site.port.to_string()).env("WEB_CONCURRENCY", "3");
    let server = Server::start(site, command);
    server.until_idle(3);
}

#[test]
fn run_takes_starmans_spellings() {
    let site = Site::new().file("app.psgi", APP).file("lib/Extra.pm", "package Extra; 1;");
    let port = site.port.to_string();
    let command = site.command([
        "run",
        "-o",
        "127.0.0.1",
        "-p",
        &port,
        "--workers",
        "1",
        "--max-requests",
        "100",
        "--preload-app",
        "-E",
        "production",
        "-I",
        "lib",
        "-M",
        "Extra",
        "--access-log",
        "access.log",
        "--error-log",
        "error.log",
        "--pid",
        "run.pid",
        "-a",
        "app.psgi",
    ]);
    let server = Server::start(site, command);
    assert!(server.text("/").ends_with(" production"));
}

#[test]
fn several_listeners_may_be_given() {
    let site = Site::new().file("app.psgi", APP);
    let mut command = site.command(["run", "--workers", "1", "-l", &format!("127.0.0.1:{}", site.port), "-l"]);
    command.arg(site.path("run.sock")).arg("app.psgi");
    let server = Server::start(site, command);
    assert_eq!(server.get("/").status, 200);
    let socket = crate::support::Address::Unix(server.site.path("run.sock"));
    let mut connection = crate::support::Connection::open(&socket).expect("the socket");
    assert_eq!(connection.ask(crate::support::Request::get("/")).status, 200);
}

#[test]
fn status_is_a_table_and_json() {
    let server = Site::new().file("app.psgi", APP).run(["app.psgi"]);
    server.until_idle(2);
    server.get("/");
    let table = server.control(["status"]).succeeded().out;
    assert!(table.contains("_ idle") && table.contains("generation 1"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let status = server.status();
    assert_eq!(status["pid"], server.pid());
    assert_eq!(status["front"]["requests"], 1);
    assert_eq!(status["max_clients"], 2);
}

#[test]
fn stop_returns_when_the_last_process_has_ended() {
    let mut server = Site::new().file("app.psgi", APP).run(["app.psgi"]);
    let processes = children(server.pid());
    server.control(["stop"]).succeeded();
    assert_eq!(server.wait(), 0);
    assert!(processes.into_iter().all(|pid| !alive(pid)));
}

#[test]
fn a_command_without_a_server_fails_with_one_line() {
    let site = Site::new();
    let socket = site.filled("@DIR@/none.sock");
    for command in ["status", "reload", "stop"] {
        let output = site.cameleer([command, "--socket", &socket]);
        assert_eq!((output.code, output.err.lines().count()), (1, 1), "{output:?}");
        assert!(output.err.contains("none.sock"), "{output:?}");
    }
}

#[test]
fn dash_t_checks_and_dash_v_shows_the_version() {
    let site = Site::new();
    site.configure("MaxClients 3");
    let output = site.cameleer(["serve", "-t", "-f", "site.conf"]).succeeded();
    assert!((output.out + &output.err).contains("Syntax OK"));
    for option in ["-v", "-V"] {
        assert!(site.cameleer(["serve", option]).succeeded().out.contains(env!("CARGO_PKG_VERSION")));
    }
    assert!(site.cameleer(["--version"]).succeeded().out.contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn directives_of_the_command_line_apply_before_and_after_the_file() {
    let site = Site::new().file("app.psgi", APP);
    site.configure("<IfDefine App>\n<Location />\nPsgiApp ${APP}\n</Location>\n</IfDefine>\nMaxClients 2");
    let mut command = site.serve_command();
    command.args(["-D", "App", "-C", "Define APP app.psgi", "-c", "MaxClients 1", "-c", "StartServers 1"]);
    let server = Server::start(site, command);
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.status()["max_clients"], 1);
}

#[test]
fn dash_x_is_one_process_that_serves_everything() {
    let site = Site::new().file("app.psgi", APP).file("htdocs/f/file.txt", "static\n");
    site.configure("<Location /app>\nPsgiApp app.psgi\n</Location>");
    let mut command = site.serve_command();
    command.arg("-X");
    let mut server = Server::start(site, command);
    let body = server.text("/app");
    assert!(body.starts_with(&format!("{} ", server.pid())), "{body}");
    assert_eq!(server.text("/f/file.txt"), "static\n");
    assert_eq!(server.text("/app"), body);
    assert_eq!(children(server.pid()), Vec::<i32>::new());
    // `-X` starts no master: INT, as at a debugger's prompt, ends the process like any program.
    server.signal(nix::sys::signal::Signal::SIGINT);
    server.wait();
}

#[test]
fn dash_x_ends_in_order_on_a_signal() {
    let code = "package Ends; sub handler { my $r = shift; if (my $kid = fork) { kill TERM => $kid; waitpid $kid, 0; $r->print($? & 127) } else { sleep 60; CORE::exit(0) } 0 }\n\
        sub gone { open my $f, '>', '@DIR@/gone'; 0 } 1;";
    let site = Site::new().file("lib/Ends.pm", code);
    site.configure("PerlLib lib\nPerlChildExitHandler Ends::gone\n<Location />\nSetHandler perl-script\nPerlHandler +Ends\n</Location>");
    let mut command = site.serve_command();
    command.arg("-X");
    let mut server = Server::start(site, command);
    assert_eq!(server.site.read("cameleer.pid").trim(), server.pid().to_string());
    assert_eq!(server.text("/"), "15", "a child dies of TERM like any other");
    assert!(server.site.has("cameleer.pid"), "the child was not taken for its parent");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    assert!(server.site.has("gone") && !server.site.has("cameleer.pid"));
}

#[test]
fn dash_k_starts_in_the_background_and_stops() {
    let site = Site::new().file("app.psgi", APP);
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    site.cameleer(["serve", "-f", "site.conf", "-k", "start"]).succeeded();
    let pid: i32 = site.read("cameleer.pid").trim().parse().expect("a pid file");
    let mut connection = crate::support::Connection::open(&site.address()).expect("it serves when start returns");
    assert_eq!(connection.ask(crate::support::Request::get("/")).status, 200);
    site.cameleer(["serve", "-f", "site.conf", "-k", "graceful"]).succeeded();
    site.cameleer(["serve", "-f", "site.conf", "-k", "restart"]).succeeded();
    assert!(alive(pid), "a restart keeps the master");
    site.cameleer(["serve", "-f", "site.conf", "-k", "graceful-stop"]).succeeded();
    until("the server has ended", || !alive(pid));
    assert!(!site.has("cameleer.pid"));
    site.cameleer(["serve", "-f", "site.conf", "-k", "start"]).succeeded();
    site.cameleer(["serve", "-f", "site.conf", "-k", "stop"]).succeeded();
    until("its files are gone", || !site.has("cameleer.pid") && !site.has("control.sock"));
}

#[test]
fn dash_k_finds_the_control_socket_of_dash_c() {
    let site = Site::new().file("app.psgi", APP);
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let control = |verb| site.cameleer(["serve", "-f", "site.conf", "-c", "ControlSocket other.sock", "-k", verb]);
    control("start").succeeded();
    assert!(site.has("other.sock") && !site.has("control.sock"));
    site.cameleer(["serve", "-f", "site.conf", "-k", "graceful"]).failed(1, "no server of");
    control("graceful").succeeded();
    control("graceful-stop").succeeded();
    until("its files are gone", || !site.has("cameleer.pid") && !site.has("other.sock"));
}

#[test]
fn a_background_start_that_fails_reports_the_error_and_exits_non_zero() {
    let site = Site::new().file("app.psgi", "die 'broken';");
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let output = site.cameleer(["serve", "-f", "site.conf", "-k", "start"]);
    assert_eq!(output.code, 78, "{output:?}");
    assert!(output.err.contains("broken at"), "{output:?}");
    assert!(!site.has("cameleer.pid"));
}

#[test]
fn run_dash_d_runs_in_the_background() {
    let site = Site::new().file("app.psgi", APP);
    let listen = format!("127.0.0.1:{}", site.port);
    site.cameleer([
        "run",
        "-D",
        "-l",
        &listen,
        "--workers",
        "1",
        "--pid",
        "run.pid",
        "--error-log",
        "error.log",
        "app.psgi",
    ])
    .succeeded();
    let pid: i32 = site.read("run.pid").trim().parse().expect("a pid file");
    let mut connection = crate::support::Connection::open(&site.address()).expect("it serves");
    assert_eq!(connection.ask(crate::support::Request::get("/")).status, 200);
    site.cameleer(["stop", "--pid-file", "run.pid"]).succeeded();
    until("the server has ended", || !alive(pid));
}

#[test]
fn process_titles_name_their_role() {
    let server = Site::new().file("app.psgi", APP).run(["app.psgi"]);
    server.until_idle(2);
    let title =
        |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    let (worker, _) = server.workers()[0];
    assert!(title(worker).contains("worker"), "{}", title(worker));
    let mold = server.status()["generations"][0]["mold_pid"].as_i64().expect("a mold") as i32;
    assert!(title(mold).contains("mold"), "{}", title(mold));
}

#[test]
fn an_error_in_an_option_names_the_option() {
    let site = Site::new().file("app.psgi", APP);
    let listen = format!("127.0.0.1:{}", site.port);
    for (option, value) in [
        ("--max-requests", "many"),
        ("--log-level", "loud"),
        ("--user", "nobody-of-this-name"),
        ("-M", "No::Such::Module"),
        ("-C", "MaxClients many"),
    ] {
        let output = match option {
            "-C" => site.cameleer(["serve", "-f", "base.conf", option, value]),
            _ => site.cameleer(["run", "-l", &listen, option, value, "app.psgi"]),
        };
        assert_ne!(output.code, 0, "{output:?}");
        assert!(!output.err.contains("command line"), "{output:?}");
        let named = output.err.contains(option) || option == "--user" && output.err.contains(value);
        assert!(named, "{option}: {output:?}");
    }
    let taken = std::net::TcpListener::bind(&listen).expect("free");
    let output = site.cameleer(["run", "-l", &listen, "app.psgi"]);
    assert!(output.err.starts_with("cameleer: --listen: "), "{output:?}");
    drop(taken);
    let output = site.file("broken.psgi", "sub { [ }").cameleer(["run", "-l", &listen, "broken.psgi"]);
    assert!(output.err.contains("broken.psgi line 1") && !output.err.contains("command line"), "{output:?}");
}

#[test]
fn the_error_about_an_unknown_option_names_the_right_one() {
    let site = Site::new();
    for (words, tip) in [
        (["run", "--server"], "omit it"),
        (["run", "--bind"], "--listen"),
        (["run", "--worker"], "--workers"),
        (["serve", "--port"], "-c 'Listen 8080'"),
        (["stop", "--pid"], "--pid-file"),
    ] {
        site.cameleer(words).failed(2, "tip:").failed(2, tip);
    }
}

#[test]
fn the_status_has_a_young_servers_age_and_what_memory_each_worker_has_for_itself() {
    let server = Site::new().file("app.psgi", APP).run(["app.psgi"]);
    server.until_idle(2);
    let table = server.control(["status"]).succeeded().out;
    let shape = |pattern| regex::Regex::new(pattern).expect("a pattern").find_iter(&table).count();
    assert_eq!(shape(r"  up [1-9]\d* (ms|s)  "), 1, "{table}");
    assert_eq!(shape(r"(?m) [1-9]\d* kB +\d+ ms| [1-9]\d*\.\d MB +\d+ ms"), 2, "{table}");
    let status = server.measured_status();
    assert!(status["uptime_ms"].as_u64() > Some(0), "{status}");
    let (pid, _) = server.workers()[0];
    let private = status["front"]["workers"][0]["private_bytes"].as_u64().expect("a number");
    let real = crate::support::own_memory(pid);
    assert!(private >= real / 2 && private < 1 << 30, "{private}, where the kernel says {real}");
}
