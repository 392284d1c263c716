//! `RecordFailures`, and `cameleer replay`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use crate::support::{Finished, Request, Server, Site, eventually, until};

const APP: &str = "sub { my $env = shift; my $body = ''; read $env->{'psgi.input'}, $body, $env->{CONTENT_LENGTH} || 0;\n\
    die 'oops' if !-e '@DIR@/mended';\n\
    [200, ['Content-Type', 'text/plain'], [join '|', @$env{qw(REQUEST_METHOD REQUEST_URI HTTP_COOKIE HTTP_X_OWN)}, $body]] }\n";
const CONF: &str = "MaxClients 1\nStartServers 1\nRecordFailures On\nPsgiApp @DIR@/app.psgi\n\
    <Location />\nSetHandler psgi\n</Location>\n";

fn serve(conf: &str) -> Server {
    let site = Site::new().file("app.psgi", APP);
    // The front may run as another user than this test.
    let conf = format!("{conf}RecordFailuresDirectory {}\n", site.path("tmp/failures").display());
    fs::set_permissions(site.path("tmp"), fs::Permissions::from_mode(0o1777)).expect("our own");
    site.serve(&conf)
}

fn recordings(server: &Server) -> Vec<PathBuf> {
    let entries = fs::read_dir(server.site.path("tmp/failures"));
    entries.map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

/// The only recording, once it is written whole.
#[track_caller]
fn recorded(server: &Server) -> (PathBuf, serde_json::Value) {
    eventually("the failure is recorded", || {
        let path = recordings(server).pop()?;
        let text = fs::read_to_string(&path).ok()?;
        Some((path, serde_json::from_str(&text).ok()?))
    })
}

fn login() -> Request {
    Request::post("/login?token=t1&page=2", "user=ada&password=secret1")
        .header("Cookie", "session=s1; theme=dark")
        .header("Authorization", "Basic c2VjcmV0")
        .header("X-Own", "own1")
}

#[test]
fn a_failed_request_is_recorded_without_its_secrets_and_sent_again() {
    let server = serve(CONF);
    server.send(login()).is(500);
    let (path, recording) = recorded(&server);
    assert_eq!(recording["status"], 500);
    assert_eq!(recording["method"], "POST");
    assert_eq!(recording["target"], "/login?token=masked&page=2");
    assert_eq!(recording["body"], "user=ada&password=masked");
    let text = recording.to_string();
    for secret in ["secret1", "s1;", "t1", "c2VjcmV0", "dark", "own1"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    let file = path.display().to_string();
    server.site.cameleer(["replay", &file]).failed(1, "the request failed again");
    server.site.write("mended", "");
    let output = server.site.cameleer(["replay", &file, "-H", "Cookie: session=mine"]).succeeded();
    assert_eq!(output.out, "POST|/login?token=masked&page=2|session=mine|masked|user=ada&password=masked");
    assert!(output.err.contains("HTTP/1.1 200"), "{output:?}");
    assert!(
        output.err.contains("the value of authorization was masked") && !output.err.contains("of cookie"),
        "{output:?}"
    );
}

#[test]
fn a_replay_may_be_sent_to_another_server() {
    let server = serve(CONF);
    server.send(login()).is(500);
    let file = recorded(&server).0.display().to_string();
    let other = Site::new().file("app.psgi", "sub { [200, [], [\"other $_[0]{REQUEST_METHOD}\"]] }").run(["app.psgi"]);
    let url = other.site.filled("http://127.0.0.1:@PORT@");
    assert_eq!(server.site.cameleer(["replay", &file, "--to", &url]).succeeded().out, "other POST");
    server.site.cameleer(["replay", &file, "--to", "https://localhost/"]).failed(2, "TLS is not supported");
    let advice = "/nope: cannot open the recording: No such file or directory (os error 2); name a file of RecordFailuresDirectory";
    server.site.cameleer(["replay", "/nope"]).failed(1, advice);
}

#[test]
fn responses_below_500_and_servers_without_the_directive_record_nothing() {
    let server = serve(&CONF.replace("RecordFailures On\n", ""));
    server.send(login()).is(500);
    server.get("/").is(500);
    assert!(recordings(&server).is_empty());
    let server = serve(CONF);
    server.site.write("mended", "");
    server.send(login()).is(200);
    fs::remove_file(server.site.path("mended")).expect("removed");
    server.get("/only").is(500);
    assert_eq!(recorded(&server).1["target"], "/only");
    assert_eq!(recordings(&server).len(), 1);
}

#[test]
fn a_long_body_is_not_recorded_and_may_be_given() {
    let server = serve(CONF);
    server.send(Request::post("/", &"x".repeat(200_000))).is(500);
    let (path, recording) = recorded(&server);
    assert_eq!(recording["body_length"], 200_000);
    assert!(recording["body"].is_null(), "{recording}");
    let file = path.display().to_string();
    server.site.cameleer(["replay", &file]).failed(1, "; give one with --body FILE");
    server.site.write("mended", "");
    server.site.write("body", "other");
    let output = server.site.cameleer(["replay", &file, "--body", "body"]).succeeded();
    assert!(output.out.ends_with("|other"), "{output:?}");
}

#[test]
fn no_secret_of_a_header_or_a_query_is_recorded() {
    let server = serve(CONF);
    let target = "/a?PHPSESSID=LEAK&jwt=LEAK&next=%2Fx%3Ftoken%3DLEAK&password=x;LEAK&user[pin]=LEAK&page=2";
    let request = Request::get(target)
        .header("X-Original-URL", "/a?token=LEAK&b=1")
        .header("X-Jwt", "LEAK")
        .header("X-CSRF", "LEAK")
        .header("Referer", "http://a:LEAK@b/#access_token=LEAK")
        .header("Accept", "text/html");
    server.send(request).is(500);
    let text = recorded(&server).1.to_string();
    assert!(!text.contains("LEAK"), "{text}");
    for harmless in ["page=2", "/a?token=masked&b=1", "http://b/", "text/html"] {
        assert!(text.contains(harmless), "{harmless}: {text}");
    }
}

#[test]
fn no_secret_of_a_body_is_recorded() {
    let form = "application/x-www-form-urlencoded";
    let json = "application/json";
    let bodies = [
        (form, "password=abc;LEAK&user[pin]=LEAK"),
        (form, "{\"password\":\"a&LEAK\"}"),
        (json, "{\"query\":\"mutation { login(password: \\\"LEAK\\\") }\"}"),
        (json, "{\"p\\u0061ssword\":\"LEAK\",\"a\":[{\"key\":\"LEAK\"}]}"),
        ("text/plain", "{\"pin\":\"LEAK\"}"),
        ("text/plain", "p%61ssword=LEAK"),
        ("application/x-ndjson", "{\"p\\u0061ssword\":\"LEAK\"}\n"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"pin\"\r\n\r\nLEAK\r\n--x--\r\n",
        ),
    ];
    for (content_type, body) in bodies {
        let server = serve(CONF);
        server.send(Request::new("POST", "/").header("Content-Type", content_type).body(body)).is(500);
        let recording = recorded(&server).1;
        assert!(!recording.to_string().contains("LEAK"), "{body}: {recording}");
        assert_eq!(recording["body_length"], body.len(), "{recording}");
    }
}

#[test]
fn a_compressed_body_is_not_recorded() {
    let server = serve(CONF);
    let request = Request::new("POST", "/").header("Content-Type", "application/json");
    server.send(request.header("Content-Encoding", "gzip").body(b"\x1f\x8b\x08LEAK")).is(500);
    let (path, recording) = recorded(&server);
    assert!(recording["body_omitted"].to_string().contains("Content-Encoding"), "{recording}");
    assert!(!recording.to_string().contains("LEAK"), "{recording}");
    server.site.cameleer(["replay", &path.display().to_string()]).failed(1, "; give one with --body FILE");
}

/// The folder `failures` of ServerRoot, which `prepare` may make first.
fn serve_as_nobody(prepare: impl Fn(&Site)) -> Option<Server> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0);
    if !is_root {
        return None;
    }
    let site = Site::new().file("app.psgi", APP);
    prepare(&site);
    Some(site.serve(&format!("User nobody\nGroup nogroup\n{CONF}")))
}

#[test]
fn root_makes_the_folder_for_the_user_of_the_front() {
    let Some(server) = serve_as_nobody(|_| ()) else { return };
    let folder = server.site.path("failures");
    let about = fs::symlink_metadata(&folder).expect("made");
    assert_eq!((about.uid(), about.mode() & 0o7777), (65534, 0o700));
    server.get("/").is(500);
    until("the failure is recorded", || fs::read_dir(&folder).is_ok_and(|entries| entries.count() == 1));
    fs::remove_dir_all(&folder).expect("root may");
    server.reload().succeeded();
    server.get("/").is(500);
    until("the failure is recorded", || fs::read_dir(&folder).is_ok_and(|entries| entries.count() == 1));
}

#[test]
fn root_gives_nobody_a_folder_that_exists_and_follows_no_link() {
    let folder = |site: &Site| fs::create_dir(site.path("failures")).expect("made");
    let Some(server) = serve_as_nobody(folder) else { return };
    server.logged("belongs to user 0; install -d -m 700 -o '#65534'");
    assert_eq!(fs::metadata(server.site.path("failures")).expect("a folder").uid(), 0);
    let check = server.site.cameleer(["check", "-f", "site.conf"]).succeeded();
    assert!(format!("{check:?}").contains("belongs to user 0"), "{check:?}");
    let link = |site: &Site| symlink("nowhere", site.path("failures")).expect("made");
    let Some(server) = serve_as_nobody(link) else { return };
    server.logged("failures is not a folder");
    assert!(!server.site.has("nowhere"));
}

#[test]
fn a_link_in_place_of_the_folder_is_refused() {
    let site = Site::new().file("app.psgi", APP);
    symlink(site.path("htdocs"), site.path("link")).expect("made");
    let server = site.serve(&format!("{CONF}RecordFailuresDirectory @DIR@/link\n"));
    server.get("/").is(500);
    server.logged("RecordFailures: 1 requests were not recorded");
    assert_eq!(fs::read_dir(server.site.path("htdocs")).expect("a folder").count(), 0);
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let site = Site::new().file("no.json", "{}");
    site.cameleer(["replay", "no.json"]).failed(1, "is not a file of RecordFailures");
    site.cameleer(["replay", "/dev/zero"]).failed(1, "is not a regular file");
}

#[test]
fn a_replay_in_the_debugger_stops_at_the_breakpoint_of_the_program() {
    let server = serve(CONF);
    server.send(login()).is(500);
    let file = recorded(&server).0.display().to_string();
    let app = "sub {\n$DB::single = 1;\nmy $x = 6;\n$x *= 7;\n[200, [], [\"x is $x\"]] }\n";
    server.site.write("app.psgi", app);
    server.site.write("commands", &format!("c\ns\np \"now $x\"\n{}", "c\n".repeat(20)));
    // The debugger reads from a terminal, which script(1) makes.
    let line = format!("script -qec \"$0 replay {file} --debug -f site.conf\" /dev/null < commands");
    let program = server.site.command([]);
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &line]).arg(program.get_program()).current_dir(server.site.folder());
    command.env("TERM", "dumb").env("TMPDIR", server.site.path("tmp"));
    let output = Finished::of(&mut command);
    assert!(output.out.contains("app.psgi:3)") && output.out.contains("now 6"), "{output:?}");
    assert!(output.out.contains("x is 42"), "{output:?}");
}

#[test]
fn a_replay_is_profiled_by_statement() {
    let server = serve(CONF);
    server.send(login()).is(500);
    let file = recorded(&server).0.display().to_string();
    server.site.write("mended", "");
    let output = server.site.cameleer(["replay", &file, "--nytprof", "--out", "pages", "-f", "site.conf"]).succeeded();
    assert!(output.out.contains("200 OK") && output.out.contains("line by line"), "{output:?}");
    until("the pages are there", || server.site.has("pages/index.html"));
}
