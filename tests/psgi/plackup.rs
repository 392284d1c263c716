//! `plackup -s Cameleer`, with Debian's plackup, and other programs that start servers by Plack.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::{Finished, Server, Site, free_port, until};

const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/perl/lib");
const APP: &str = "my $n; sub { [200, ['Content-Type', 'text/plain'], [join '|', $$, $ENV{PLACK_ENV}, ++$n]] }";

/// A program of Perl that becomes the server, in the site's folder.
fn command(site: &Site, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.iter().map(|argument| site.filled(argument))).current_dir(site.folder());
    command.env("PERL5LIB", LIBRARY).env("CAMELEER", env!("CARGO_BIN_EXE_cameleer")).env("TMPDIR", site.path("tmp"));
    command.env_remove("PLACK_ENV");
    command
}

#[track_caller]
fn plackup(site: Site, arguments: &[&str]) -> Server {
    let mut all = vec!["-s", "Cameleer", "--listen", "127.0.0.1:@PORT@"];
    all.extend(arguments);
    let command = command(&site, "plackup", &all);
    Server::start(site, command)
}

#[test]
fn plackup_serves_a_file_by_cameleer_with_its_options() {
    let site = Site::new().file("app.psgi", APP).file("lib/My.pm", "package My; sub text { 'mine' } 1;");
    let options = ["--workers", "1", "--max-requests", "2", "--preload-app=1", "-E", "production", "--pid", "p.pid"];
    let server = plackup(site, &[&options[..], &["app.psgi"]].concat());
    assert!(!server.log().contains("is not an option"), "{}", server.log());
    let output: Vec<String> = (0..4).map(|_| server.text("/")).collect();
    assert!(output.iter().all(|output| output.contains("|production|")), "{output:?}");
    let pids: BTreeSet<&str> = output.iter().filter_map(|output| output.split('|').next()).collect();
    assert!(pids.len() > 1, "a worker leaves after two requests: {output:?}");
    assert_eq!(server.site.read("p.pid").trim(), server.pid().to_string(), "plackup has become the server");
}

#[test]
fn folders_modules_and_code_of_the_command_line_reach_the_application() {
    let site = Site::new().file("lib/My.pm", "package My; sub text { 'mine' } 1;");
    let code = "sub { [200, ['Content-Type', 'text/plain'], [My::text() . shift->{SCRIPT_NAME}]] }";
    let server = plackup(site, &["-Ilib", "-MMy", "--path", "/below", "-E", "test", "-e", code]);
    assert_eq!(server.text("/below/x"), "mine/below");
    server.get("/elsewhere").is(404);
}

#[test]
fn a_reload_runs_plackup_again_up_to_the_server() {
    let server = plackup(Site::new().file("app.psgi", APP), &["--workers", "1", "-E", "test", "app.psgi"]);
    assert!(server.text("/").ends_with("|test|1"));
    server.site.write("app.psgi", "sub { [200, [], ['new']] }");
    let mut reload = command(&server.site, env!("CARGO_BIN_EXE_cameleer"), &["reload", "--socket"]);
    Finished::of(reload.arg(format!("/run/cameleer/{}.sock", server.pid()))).succeeded();
    assert_eq!(server.text("/"), "new");
}

#[test]
fn in_development_plackup_adds_its_middleware_once() {
    let app = "sub { die 'oops' if $_[0]{PATH_INFO} eq '/die'; [200, ['Content-Type', 'text/plain'], ['fine']] }";
    let server = plackup(Site::new().file("app.psgi", app), &["--error-log", "@DIR@/error.log", "app.psgi"]);
    assert_eq!(server.text("/"), "fine");
    let page = server.get("/die").is(500).text();
    assert!(page.contains("oops at") && page.contains("app.psgi line 1"), "{page}");
    server.logged("\"GET /die HTTP/1.1\" 500");
    assert_eq!(server.log().matches("\"GET / HTTP/1.1\" 200").count(), 1, "{}", server.log());
}

#[test]
fn a_program_of_its_own_may_pass_an_application_to_the_runner_or_the_loader() {
    let by_runner = "use Plack::Runner; my $app = sub { [200, [], [\"runner @ARGV\"]] }; my $runner = Plack::Runner->new;\n\
        $runner->parse_options('-s', 'Cameleer', '-E', 'test', '--listen', '127.0.0.1:@PORT@'); $runner->run($app);\n";
    let by_loader = "use Plack::Loader; my $words = \"@ARGV\"; Plack::Loader->load('Cameleer', host => '127.0.0.1', port => @PORT@, workers => 1)\n\
        ->run(sub { [200, [], [\"loader $words\"]] });\n";
    for (name, text) in [("runner", by_runner), ("loader", by_loader)] {
        let site = Site::new().file("server.pl", text);
        let command = command(&site, "perl", &["server.pl", "a", "b"]);
        let server = Server::start(site, command);
        assert_eq!(server.text("/"), format!("{name} a b"));
    }
}

#[test]
fn a_delayed_application_is_loaded_before_the_fork() {
    let app = "my $loaded = $$; sub { [200, [], [$loaded == $$ ? 'in the worker' : 'before']] }";
    let server = plackup(Site::new().file("app.psgi", app), &["-L", "Delayed", "-E", "test", "app.psgi"]);
    assert_eq!(server.text("/"), "before");
}

#[test]
fn the_reloading_loader_of_plackup_starts_the_server_again() {
    let site = Site::new().file("app.psgi", "sub { [200, [], ['old']] }");
    let server = plackup(site, &["-r", "-E", "test", "app.psgi"]);
    assert_eq!(server.text("/"), "old");
    // plackup notices a change by its time in seconds, or by inotify.
    until("plackup restarts the server", || {
        server.site.write("app.psgi", "sub { [200, [], ['new']] }");
        let response = crate::support::Connection::open(&server.address).and_then(|mut connection| {
            connection.try_ask(&crate::support::Request::get("/").header("Connection", "close"))
        });
        response.is_ok_and(|response| response.text() == "new")
    });
}

#[test]
fn sockets_of_server_starter_are_used() {
    use std::os::fd::AsRawFd;
    let site = Site::new().file("app.psgi", APP);
    let listener = std::net::TcpListener::bind(("127.0.0.1", site.port)).expect("a reserved port");
    let script = format!(
        "exec 7<&{}; export SERVER_STARTER_PORT=127.0.0.1:{}=7; exec plackup -s Cameleer -E test app.psgi",
        listener.as_raw_fd(),
        site.port
    );
    nix::fcntl::fcntl(&listener, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).expect("our own");
    let command = command(&site, "bash", &["-c", &script]);
    let server = Server::start(site, command);
    drop(listener);
    assert!(server.text("/").contains("|test|"));
}

#[test]
fn a_mistake_and_an_unknown_option_are_named() {
    let site = Site::new().file("app.psgi", "sub { ");
    let line = ["-s", "Cameleer", "-E", "test", "app.psgi"];
    let output = Finished::of(&mut command(&site, "plackup", &line));
    assert!(output.code != 0 && output.err.contains("app.psgi line 1"), "{output:?}");
    let server = plackup(Site::new().file("app.psgi", APP), &["-E", "test", "--colour", "red", "app.psgi"]);
    server.logged("--colour is not an option of this server");
}

#[test]
fn some_addresses_speak_tls_and_others_plain_http() {
    let secure = free_port();
    let app = "sub { [200, ['Content-Type', 'text/plain'], [$_[0]{'psgi.url_scheme'}]] }";
    let site = Site::new().file("app.psgi", app).certificate("localhost", &["localhost"]);
    let listen = format!("127.0.0.1:{}:ssl", secure);
    let mut options = vec!["--listen", &listen, "--ssl-cert", "localhost.crt", "--ssl-key", "localhost.key"];
    options.push("app.psgi");
    let server = plackup(site, &options);
    assert_eq!(server.text("/"), "http");
    let url = format!("https://localhost:{}/", secure);
    let trust = server.site.path("localhost.crt");
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--noproxy", "*", "--cacert"]).arg(trust).arg(&url);
    assert_eq!(Finished::of(&mut curl).succeeded().out, "https");
    let mut plain = Command::new("curl");
    plain.args(["-sS", "--noproxy", "*", &url.replace("https", "http")]);
    assert_ne!(Finished::of(&mut plain).out, "http", "no plain HTTP where TLS was meant");
}
