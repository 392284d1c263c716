//! The messages of docs/operating/troubleshooting.md: each mistake is made, and the program prints the message.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use regex::Regex;

use crate::support::{Connection, Finished, Request, Server, Site, eventually, until};

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operating/troubleshooting.md"));

/// Message, name and text of a file, and the command that must fail or warn because of it.
const COMMANDS: &[(&str, &str, &str, &[&str])] = &[
    (
        "…: ServerTokn: is not a directive: did you mean ServerTokens?",
        "site.conf",
        "Listen 1\nServerTokn Prod\n",
        &["check", "-f", "site.conf"],
    ),
    (
        "…: php_value: is not supported: PHP is not run here; pass these paths with ProxyPass to a server that runs it",
        "site.conf",
        "Listen 1\nphp_value x y\n",
        &["check", "-f", "site.conf"],
    ),
    (
        "…: <Location>: this section is never closed; write </Location> in the same file",
        "site.conf",
        "Listen 1\n<Location /x>\n",
        &["check", "-f", "site.conf"],
    ),
    (
        "ErrorLog: cannot open … for writing: No such file or directory",
        "site.conf",
        "Listen 127.0.0.1:@PORT@\nErrorLog missing/error.log\n",
        &["serve", "-f", "site.conf"],
    ),
    (
        "User: no such user \"…\"",
        "site.conf",
        "Listen 127.0.0.1:@PORT@\nUser nobody-of-this-name\n",
        &["serve", "-f", "site.conf"],
    ),
    (
        "DocumentRoot: … is not a folder; create it, or correct the path",
        "site.conf",
        "Listen 1\nDocumentRoot missing\n",
        &["check", "-f", "site.conf"],
    ),
    (
        "…: no such file; give app.psgi, a CGI script, a folder of scripts, -M Module or -e CODE",
        "other.psgi",
        "",
        &["run", "app.psgi"],
    ),
    ("Can't locate No/Such.pm in @INC", "app.psgi", "use No::Such; sub {}", &["check", "app.psgi"]),
    (
        "…: its last value is not a PSGI application (a code reference)",
        "app.psgi",
        "my $x = 1;",
        &["check", "app.psgi"],
    ),
    ("…: no such pid file; the server is not running", "app.psgi", "", &["reload", "--pid-file", "app.pid"]),
    (
        "no server answers at …: No such file or directory",
        "app.psgi",
        "",
        &["status", "--socket", "@DIR@/missing.sock"],
    ),
];

/// Message, target of the request, and status of its response. They are sent in this order.
const REQUESTS: &[(&str, &str, u16)] = &[
    ("access to … failed, reason: the script is not executable (chmod +x)", "/cgi/plain.cgi", 500),
    ("access to … failed, reason: there is no such file", "/cgi/missing.cgi", 404),
    (
        "…: cannot be executed: Exec format error (os error 8): the file has no #! line; write #!/usr/bin/perl as the first line",
        "/cgi/no-line.cgi",
        500,
    ),
    ("…: cannot be executed: No such file or directory (os error 2): the first line ends with CR", "/cgi/cr.cgi", 500),
    ("Premature end of script headers: …", "/cgi/no-head.cgi", 500),
    ("client denied by server configuration", "/denied/", 403),
    (
        "the folder has no index file (DirectoryIndex), and a list of its files is forbidden here (Options +Indexes allows it)",
        "/folder/",
        403,
    ),
    (
        "a symbolic link in the path is forbidden here (Options +FollowSymLinks or +SymLinksIfOwnerMatch allows it)",
        "/link.txt",
        403,
    ),
    ("permission denied: User may not read the file, or not enter a folder above it", "/unreadable.txt", 403),
    ("….htaccess:1: Opshun: is not a directive", "/mistake/a.txt", 500),
    ("AuthUserFile: …: No such file or directory", "/users/", 500),
    ("backend …: cannot connect: Connection refused", "/backend/", 503),
    ("GET …: oops at … line …", "/app/die", 500),
    ("PSGI: the application returned …, not a response", "/app/text", 500),
    ("PSGI: wide character in the response: encode it to bytes first.", "/app/wide", 500),
    ("PSGI: the application returned without calling its responder; psgi.nonblocking is false", "/app/later", 500),
    ("PSGI: the application called exit(3)", "/app/exit", 500),
    ("killed signal=9", "/app/kill", 502),
    ("lost GET …", "/app/kill", 502),
    ("killed signal=11", "/app/crash", 502),
    ("the request took longer than RequestTimeout at … line …", "/app/slow", 504),
    ("pool default reached MaxClients setting, consider raising the MaxClients setting", "/app/", 200),
];

const PORT_IN_USE: &str = "Listen …: address already in use; find the program with ss -ltnp 'sport = :…'";
const SERVED_ALREADY: &str = "PidFile: …: already running as process …; stop it, or name another file";
const READ_ONLY: &str = "the control socket …; name a path with ControlSocket (run --control), or set TMPDIR to a folder \
    that may be written to: Read-only file system";
const SEVERAL: &str = "several servers are running; name one:";
const NEEDS_TLS: &str = "This port requires TLS; use an address that begins with https.";
const NO_TLS: &str =
    "the client speaks TLS on the plain port …; write Listen … https, or SSLEngine On in the virtual host";
const OLD_CODE: [&str; 2] = ["site.conf:…: ServerTokn: is not a directive", "the old code"];

#[test]
fn every_message_of_the_page_has_a_case_and_every_case_is_on_the_page() {
    let quoted = Regex::new("`([^`]+)`").expect("a pattern");
    let mut is_of_messages = false;
    let mut on_page = BTreeSet::new();
    for line in PAGE.lines() {
        is_of_messages = line.starts_with('|') && (is_of_messages || line.starts_with("| message |"));
        if is_of_messages {
            let cell = line.split(" | ").next().unwrap_or_default();
            on_page.extend(quoted.captures_iter(cell).map(|found| found[1].to_owned()));
        }
    }
    let others = [PORT_IN_USE, SERVED_ALREADY, READ_ONLY, SEVERAL, NEEDS_TLS, NO_TLS].into_iter().chain(OLD_CODE);
    let cases = COMMANDS.iter().map(|case| case.0).chain(REQUESTS.iter().map(|case| case.0)).chain(others);
    let cases: BTreeSet<String> = cases.map(str::to_owned).collect();
    assert!(cases.len() > 35, "{} cases", cases.len());
    assert_eq!(on_page, cases, "left is the page, right are the cases");
}

/// Whether a line of the output has the message; `…` stands for any text.
fn has(output: &str, message: &str) -> bool {
    let parts: Vec<String> = message.split('…').map(regex::escape).collect();
    Regex::new(&parts.join(".*")).expect("a pattern").is_match(output)
}

#[track_caller]
fn prints(output: &str, message: &str) {
    assert!(has(output, message), "{message}\nis not in\n{output}");
}

#[test]
fn commands_that_fail_print_the_messages_of_the_page() {
    for (message, name, text, arguments) in COMMANDS {
        let site = Site::new().file(name, text);
        let mut command = site.command([]);
        let output = Finished::of(command.args(arguments.iter().map(|argument| site.filled(argument))));
        let is_warning = message.starts_with("DocumentRoot");
        assert_eq!(output.code == 0, is_warning, "{message}: {output:?}");
        prints(&(output.out + &output.err), message);
    }
}

const APP: &str = r#"sub {
    my $path = $_[0]{PATH_INFO};
    die 'oops' if $path eq '/die';
    return 'x' if $path eq '/text';
    return [ 200, [], ["\x{263a}"] ] if $path eq '/wide';
    return sub { } if $path eq '/later';
    CORE::exit(3) if $path eq '/exit';
    kill KILL => $$ if $path eq '/kill';
    kill SEGV => $$ if $path eq '/crash';
    while ($path eq '/slow') { select undef, undef, undef, 1 }
    return [ 200, [ 'Content-Type' => 'text/plain' ], ['fine'] ];
}
"#;

const SITE: &str = r#"
User nobody
Group nogroup
MaxClients 1
StartServers 1
RequestTimeout 1
ScriptAlias /cgi/ cgi/
ProxyPass /backend/ http://127.0.0.1:1/
<Directory htdocs>
    AllowOverride All
    Options None
</Directory>
<Location /denied>
    Require all denied
</Location>
<Location /users>
    AuthType Basic
    AuthName users
    AuthUserFile missing
    Require valid-user
</Location>
<Location /app>
    SetHandler psgi
    PsgiApp app.psgi
</Location>
"#;

fn site() -> Site {
    let site = Site::new()
        .file("app.psgi", APP)
        .file("cgi/plain.cgi", "#!/usr/bin/perl\n")
        .script("cgi/no-line.cgi", "print 'x';\n")
        .script("cgi/cr.cgi", "#!/usr/bin/perl\r\nprint 'x';\r\n")
        .script("cgi/no-head.cgi", "#!/usr/bin/perl\nprint \"hello\\n\";\n")
        .file("htdocs/denied/index.html", "")
        .file("htdocs/users/index.html", "")
        .file("htdocs/folder/a.txt", "")
        .file("htdocs/target.txt", "")
        .file("htdocs/unreadable.txt", "")
        .file("htdocs/mistake/.htaccess", "Opshun\n")
        .file("htdocs/mistake/a.txt", "");
    symlink("target.txt", site.path("htdocs/link.txt")).expect("made");
    let mode = |name: &str, mode| std::fs::set_permissions(site.path(name), PermissionsExt::from_mode(mode));
    mode("htdocs/unreadable.txt", 0o600).and_then(|()| mode(".", 0o755)).expect("our own files");
    site
}

#[test]
fn requests_that_fail_log_the_messages_of_the_page() {
    let server = site().serve(SITE);
    for (message, target, status) in REQUESTS {
        let request = Request::get(target);
        let request = if *target == "/users/" { request.header("Authorization", "Basic YTpi") } else { request };
        let response = server.send(request);
        assert_eq!(response.status, *status, "{target}: {response:?} {}", server.log());
        until(&format!("the log has {message:?}"), || has(&server.log(), message));
    }
}

fn served() -> Server {
    let app = "sub { [200, ['Content-Type', 'text/plain'], ['fine']] }";
    Site::new().file("app.psgi", app).serve("<Location />\nPsgiApp app.psgi\n</Location>")
}

#[test]
fn a_second_server_at_the_same_port_or_of_the_same_site_is_refused() {
    let server = served();
    let listen = format!("127.0.0.1:{}", server.site.port);
    prints(&server.site.cameleer(["run", "-l", &listen, "app.psgi"]).failed(1, "").err, PORT_IN_USE);
    prints(&Finished::of(&mut server.site.serve_command()).failed(1, "").err, SERVED_ALREADY);
}

#[test]
fn a_read_only_root_is_named_with_a_remedy() {
    let site = Site::new().file("app.psgi", "sub {}");
    let script = "mount -t tmpfs tmpfs /run && mkdir /run/cameleer && mount -o remount,ro /run && exec \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_cameleer"), "run", "-l"]);
    command.args([&format!("127.0.0.1:{}", site.port), "app.psgi"]).current_dir(site.folder()).env_remove("PORT");
    prints(&Finished::of(&mut command).failed(1, "").err, READ_ONLY);
}

#[test]
fn a_command_that_finds_several_servers_lists_them() {
    let run = || Site::new().file("app.psgi", "sub { [200, [], []] }").run(["app.psgi"]);
    let (one, other) = (run(), run());
    let output = one.site.cameleer(["reload"]).failed(1, "");
    prints(&output.err, SEVERAL);
    for pid in [one.pid(), other.pid()] {
        assert!(output.err.contains(&format!("--socket /run/cameleer/{pid}.sock")), "{output:?}");
    }
}

#[test]
fn tls_and_plain_http_at_the_wrong_port_are_named() {
    let site = Site::new().file("app.psgi", "sub { [200, [], []] }");
    let mut command = site.command(["run", "--tls", "-l", &format!("127.0.0.1:{}", site.port), "app.psgi"]);
    command.env("XDG_CONFIG_HOME", site.folder());
    let server = Server::start(site, command);
    prints(&server.get("/").is(400).text(), NEEDS_TLS);
    let server = served();
    let mut connection = Connection::open(&server.address).expect("accepted");
    connection.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n");
    eventually("the log names it", || has(&server.log(), NO_TLS).then_some(()));
}

#[test]
fn a_reload_with_a_mistake_names_it_and_keeps_the_old_code() {
    let server = served();
    let conf = server.site.read("site.conf");
    server.site.write("site.conf", &format!("{conf}\nServerTokn Prod\n"));
    prints(&server.reload().failed(1, "").err, OLD_CODE[0]);
    let line = server.logged("reload failed");
    OLD_CODE.iter().for_each(|part| prints(&line, part));
    assert_eq!(server.text("/"), "fine");
}
