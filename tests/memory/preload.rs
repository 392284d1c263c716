//! `PerlPreload auto`: modules and scripts that workers of the last run loaded are loaded before the fork.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::{Value, json};

use super::{measured, number, of_role};
use crate::support::{REGISTRY, Server, Site};

/// Notes each process that loads the module.
const NOTES: &str = "open my $f, '>>', '@DIR@/loaded'; print $f qq{$$\n}; close $f; 1;";
const APP: &str = "<Location />\nPsgiApp app.psgi\n</Location>\n";
const ONE: &str = "HistoryFile off\nLogLevel notice\nMaxClients 1\nStartServers 1\nPerlLib lib\nPerlPreload auto\n";

fn site() -> Site {
    let table = "our @table = map { \"entry $_\" } 1 .. 60_000;";
    let site = Site::new().file("lib/Late.pm", &format!("package Late; {table} {NOTES}"));
    fs::create_dir(site.path("state")).expect("a folder in TMPDIR");
    site
}

/// The command that serves the site with a folder for state, as systemd's StateDirectory.
fn command(site: &Site) -> Command {
    let mut command = site.serve_command();
    command.env("STATE_DIRECTORY", site.path("state"));
    command
}

#[track_caller]
fn serve(site: Site, conf: &str) -> Server {
    site.configure(conf);
    let command = command(&site);
    Server::start(site, command)
}

/// Stops the server, and starts it again with an empty log.
#[track_caller]
fn again(server: &mut Server) {
    stop(server);
    server.site.write("error.log", "");
    let command = command(&server.site);
    server.restart_by(command);
}

#[track_caller]
fn stop(server: &mut Server) {
    server.control(["stop"]).succeeded();
    assert_eq!(server.wait(), 0, "{}", server.log());
}

#[track_caller]
fn ask(server: &Server, path: &str) -> String {
    let text = server.text(path);
    server.until_idle(1);
    text
}

fn stored(server: &Server) -> Value {
    serde_json::from_str(&server.site.read("state/preload")).unwrap_or_default()
}

/// Lines of the log about PerlPreload.
fn about_preload(server: &Server) -> Vec<String> {
    server.log().lines().filter(|line| line.contains("PerlPreload")).map(str::to_owned).collect()
}

#[test]
fn the_next_start_loads_what_workers_had_loaded() {
    let script = "use Late; print \"Content-Type: text/plain\\n\\n$$\";";
    let mut server = serve(site().script("scripts/one.pl", script), &format!("{ONE}{REGISTRY}"));
    assert!(about_preload(&server).is_empty(), "nothing is known: {}", server.log());
    ask(&server, "/perl/one.pl");
    let worker = |server: &Server| number(&of_role(&measured(server), "worker")[0]["sizes"]["private"]);
    let before = worker(&server);
    server.site.write("loaded", "");
    again(&mut server);
    let line = server.logged("PerlPreload: loaded ");
    assert!(line.contains(" modules and scripts that earlier workers had loaded"), "{line}");
    assert!(line.contains(" MB, which workers share"), "{line}");
    let pid = ask(&server, "/perl/one.pl");
    let loaded = server.site.read("loaded");
    assert_eq!(loaded.lines().count(), 3, "two trials, because it reads $$, and the mold: {loaded}");
    assert!(loaded.lines().all(|it| it != pid), "{loaded}");
    assert!(worker(&server) + (4 << 20) < before, "{before} before, {} now", worker(&server));
    again(&mut server);
    server.logged("PerlPreload: loaded ");
}

#[test]
fn the_file_is_only_the_owners_and_belongs_to_one_configuration() {
    let app = "sub { require Late; [200, [], [$$]] }";
    let mut server = serve(site().file("app.psgi", app), &format!("{ONE}{APP}"));
    ask(&server, "/");
    stop(&mut server);
    let file = server.site.path("state/preload");
    assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
    let stored = stored(&server);
    assert_eq!(stored["pools"]["default"]["code"]["modules"][0][0], "Late.pm", "{stored}");
    server.site.write("other.conf", &server.site.read("site.conf"));
    let mut other = server.site.command(["serve", "-f", &server.site.filled("@DIR@/other.conf")]);
    other.env("STATE_DIRECTORY", server.site.path("state"));
    server.restart_by(other);
    server.logged("is ignored: it belongs to another configuration");
    assert_eq!(server.log().matches("PerlPreload: loaded").count(), 0, "{}", server.log());
}

#[test]
fn a_file_that_cannot_be_trusted_is_ignored_with_one_line() {
    let app = "sub { require Late; [200, [], [$$]] }";
    let mut server = serve(site().file("app.psgi", app), &format!("{ONE}{APP}"));
    ask(&server, "/");
    stop(&mut server);
    let (folder, good) = (server.site.folder().to_owned(), server.site.read("state/preload"));
    let (file, target) = (folder.join("state/preload"), folder.join("target"));
    let spoil: [(&str, &dyn Fn()); 4] = [
        ("is damaged", &|| fs::write(&file, &good[..good.len() / 2]).expect("our own file")),
        ("may be written to by others", &|| {
            fs::write(&file, &good).expect("our own file");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("our own file");
        }),
        ("is a symbolic link", &|| {
            let _ = fs::remove_file(&file);
            fs::write(&target, &good).expect("our own file");
            symlink(&target, &file).expect("a link");
        }),
        ("is not a regular file", &|| {
            let _ = fs::remove_file(&file);
            fs::create_dir(&file).expect("a folder");
        }),
    ];
    for (why, spoil) in spoil {
        spoil();
        server.site.write("error.log", "");
        let start = command(&server.site);
        server.restart_by(start);
        let ignored: Vec<String> =
            about_preload(&server).into_iter().filter(|line| line.contains("is ignored: ")).collect();
        assert!(ignored.len() == 1 && ignored[0].contains(why), "{why}: {ignored:?}");
        ask(&server, "/");
        stop(&mut server);
    }
    assert_eq!(fs::read_to_string(&target).expect("the target"), good, "the link was not followed");
}

#[test]
fn code_that_is_not_safe_before_the_fork_is_left_out_and_named() {
    let unsafe_modules = [
        ("Prints", "print 'text'; 1;", "prints to STDOUT"),
        ("Env", "$ENV{MINE} = 1;", "changes %ENV"),
        ("Folder", "chdir '/'; 1;", "changes the working directory"),
        ("Signals", "$SIG{USR2} = sub { }; 1;", "changes %SIG"),
        ("Forks", "if (!$main::worker) { my $pid = fork; if (!$pid) { sleep 1 while 1 } } 1;", "starts a process"),
        ("Socket", "use Socket; socket our $s, PF_INET, SOCK_STREAM, 0; 1;", "opens socket:"),
        ("Pid", "my $pid = $$; sub pid { $pid } 1;", "stores its process id"),
        ("Random", "our $seed = rand; 1;", "draws random numbers"),
        ("Dies", "die qq{only in workers\\n} if !$main::worker; 1;", "fails: only in workers"),
        ("Leaves", "if (!$main::worker) { require POSIX; POSIX::_exit(3) } 1;", "ends its process with status 3"),
        ("Hangs", "if (!$main::worker) { sleep 1 while 1 } 1;", "takes longer than 5 s"),
    ];
    let mut site = site();
    let mut all = String::new();
    for (name, code, _) in unsafe_modules {
        site = site.file(&format!("lib/My/{name}.pm"), &format!("package My::{name}; {code}"));
        all += &format!("require My::{name}; ");
    }
    let app =
        format!("sub {{ $main::worker = 1; {all} chdir '@DIR@'; require Late; [200, [], [My::Pid::pid(), ' ', $$]] }}");
    let mut server = serve(site.file("app.psgi", &app), &format!("{ONE}{APP}"));
    ask(&server, "/");
    again(&mut server);
    server.logged("PerlPreload: loaded ");
    let named: String = about_preload(&server).concat();
    for (name, _, why) in unsafe_modules {
        // The log names ten.
        let stored = stored(&server)["pools"]["default"]["left_out"].clone();
        let one = stored.as_array().expect("a list").iter().find(|one| one["name"] == format!("My/{name}.pm"));
        let one = one.unwrap_or_else(|| panic!("{name} is left out: {stored}"));
        assert!(one["why"].as_str().expect("a text").contains(why), "{one}");
    }
    assert!(named.contains("My/Env.pm (changes %ENV)") && named.contains(", and 1 more"), "{named}");
    assert!(!server.log().lines().any(|line| line.starts_with("text")), "the mold has not printed: {}", server.log());
    let text = ask(&server, "/");
    let (stored_pid, pid) = text.split_once(' ').expect("two numbers");
    assert_eq!(stored_pid, pid, "each worker has its own");
    again(&mut server);
    server.logged("PerlPreload: loaded ");
    assert!(!server.log().contains("left out"), "they are known: {}", server.log());
}

#[test]
fn a_start_that_code_prevents_is_repeated_without_it() {
    let module = "package Kills; kill KILL => getppid if !$main::worker; 1;";
    let app = "sub { $main::worker = 1; require Kills; require Late; [200, [], [$$]] }";
    let mut server = serve(site().file("lib/Kills.pm", module).file("app.psgi", app), &format!("{ONE}{APP}"));
    ask(&server, "/");
    again(&mut server);
    server.logged("is no longer loaded before the fork");
    let left_out = |server: &Server| {
        let list = stored(server)["pools"]["default"]["left_out"].clone();
        let kills = list.as_array().and_then(|all| all.iter().find(|one| one["name"] == "Kills.pm")).cloned();
        kills.unwrap_or_else(|| panic!("Kills.pm is left out: {list}"))["why"].clone()
    };
    assert_eq!(left_out(&server), "a start with it failed");
    ask(&server, "/");
    again(&mut server);
    for _ in 0..2 {
        ask(&server, "/");
        server.reload().succeeded();
    }
    assert!(about_preload(&server).is_empty(), "it is not tried again: {}", server.log());
    assert_eq!(left_out(&server), "a start with it failed");
    server.site.write("lib/Kills.pm", "package Kills; 1;");
    again(&mut server);
    server.logged("PerlPreload: loaded 1 modules");
}

#[test]
fn a_module_that_only_its_parent_can_load_comes_with_the_parent() {
    let site = site()
        .file("lib/App/A.pm", "package App::A; die qq{too early\\n} if !$App::Z::config; sub name { 'A' } 1;")
        .file("lib/App/Z.pm", "package App::Z; BEGIN { our $config = 1 } require App::A; 1;");
    let app = "sub { require App::Z; require App::A; [200, [], [App::A::name()]] }";
    let mut server = serve(site.file("app.psgi", app), &format!("{ONE}{APP}"));
    assert_eq!(ask(&server, "/"), "A");
    again(&mut server);
    server.logged("PerlPreload: loaded 1 modules and scripts");
    assert!(!server.log().contains("App/A.pm"), "it is loaded: {}", server.log());
    assert_eq!(ask(&server, "/"), "A");
}

#[test]
fn code_behind_a_piece_that_is_not_safe_is_judged_without_it() {
    let site = site()
        .file("lib/App/Env.pm", "package App::Env; $ENV{MINE} = 1;")
        .file("lib/App/Reads.pm", "package App::Reads; $ENV{MINE} and $SIG{USR2} = sub { }; 1;");
    let app = "sub { require App::Env; require App::Reads; [200, [], [$ENV{MINE} // 'none']] }";
    let mut server = serve(site.file("app.psgi", app), &format!("{ONE}{APP}"));
    ask(&server, "/");
    again(&mut server);
    server.logged("PerlPreload: loaded 1 modules and scripts");
    let line = server.logged("PerlPreload: left out: ");
    assert!(line.ends_with("left out: App/Env.pm (changes %ENV)"), "{line}");
}

#[test]
fn a_search_that_takes_too_long_goes_on_at_the_next_start() {
    let hangs = |name: &str| format!("package {name}; if (!$main::worker) {{ sleep 1 while 1 }} 1;");
    let site = site().file("lib/HangsA.pm", &hangs("HangsA")).file("lib/HangsB.pm", &hangs("HangsB"));
    let app = "sub { $main::worker = 1; require HangsA; require HangsB; require Late; [200, [], [$$]] }";
    // A third of it is time for one piece that hangs, and not for two.
    let conf = format!("StartTimeout 28\n{ONE}{APP}");
    let mut server = serve(site.file("app.psgi", app), &conf);
    ask(&server, "/");
    again(&mut server);
    server.logged("take longer than a third of StartTimeout; none of it is loaded, and the next start continues");
    again(&mut server);
    server.logged("PerlPreload: loaded 1 modules and scripts");
}

#[test]
fn only_files_of_the_configuration_are_loaded() {
    let outside = "open my $f, '>>', '@DIR@/outside'; close $f; 1;";
    let mut server = serve(
        site().script("scripts/one.pl", "print 1;").file("other/Mine.pm", outside).file("other/two.pl", outside),
        &format!("{ONE}{REGISTRY}"),
    );
    stop(&mut server);
    let mut list = stored(&server);
    let path = |name: &str| server.site.path(name).to_string_lossy().into_owned();
    list["pools"]["default"] = json!({
        "left_out": [],
        "code": {
            "modules": [["Mine.pm", path("other/Mine.pm")], ["Late.pm", path("lib/Late.pm")]],
            "scripts": [
                ["/perl/two.pl", path("other/two.pl")],
                ["/perl/../other/two.pl", path("other/two.pl")],
                ["/perl//one.pl", path("scripts/one.pl")],
                ["evil.example/perl/one.pl", path("scripts/one.pl")],
                ["/perl/one.pl", path("scripts/one.pl")],
            ],
        },
    });
    fs::write(server.site.path("state/preload"), list.to_string()).expect("our own file");
    let command = command(&server.site);
    server.restart_by(command);
    server.logged("PerlPreload: loaded 2 modules and scripts");
    server.logged("Mine.pm (fails: the file is not in the mold's @INC)");
    assert!(!server.site.has("outside"));
}

#[test]
fn each_pool_loads_its_own_code_and_by_default_none() {
    let conf = format!(
        "{ONE}<WorkerPool other>\nMaxClients 1\nStartServers 1\nPerlLib lib\n</WorkerPool>\n{APP}\
         <Location /other>\nPerlPool other\nPsgiApp other.psgi\n</Location>\n"
    );
    let app = |module: &str| format!("sub {{ require {module}; [200, [], [$$]] }}");
    let site = site().file("lib/Other.pm", &format!("package Other; {NOTES}"));
    let mut server = serve(site.file("app.psgi", &app("Late")).file("other.psgi", &app("Other")), &conf);
    server.text("/");
    server.text("/other");
    server.until_idle(2);
    stop(&mut server);
    let list = stored(&server);
    assert_eq!(list["pools"]["default"]["code"]["modules"][0][0], "Late.pm", "{list}");
    assert_eq!(list["pools"]["other"]["code"]["modules"][0][0], "Other.pm", "{list}");
    let start = command(&server.site);
    server.restart_by(start);
    assert_eq!(server.log().matches("PerlPreload: loaded 1 modules").count(), 2, "{}", server.log());
    server.site.configure(&conf.replace("PerlPreload auto\n", ""));
    again(&mut server);
    server.text("/");
    assert!(about_preload(&server).is_empty(), "{}", server.log());
    assert!(!server.site.has("state/preload.new"));
}

#[test]
fn scripts_of_mod_perl_2_are_compiled_before_the_fork() {
    let conf = "HistoryFile off\nLogLevel notice\nMaxClients 1\nStartServers 1\nPerlPreload auto\nPerlSwitches -I@DIR@/lib\n\
                PerlModule ModPerl::Registry\nAlias /perl/ @DIR@/scripts/\n<Location /perl>\nSetHandler perl-script\n\
                PerlResponseHandler ModPerl::Registry\nPerlOptions +ParseHeaders\nOptions +ExecCGI\n</Location>\n";
    let script = "use Late; print \"Content-Type: text/plain\\n\\n$$\";";
    let mut server = serve(site().script("scripts/one.pl", script), conf);
    ask(&server, "/perl/one.pl/further/path");
    again(&mut server);
    let pid = ask(&server, "/perl/one.pl");
    let (list, file) = (stored(&server), server.site.path("scripts/one.pl"));
    let scripts = &list["pools"]["default"]["code"]["scripts"];
    assert_eq!(scripts, &json!([["ModPerl::Registry /perl/one.pl", file]]), "{list}");
    assert_eq!(list["pools"]["default"]["left_out"], json!([]), "{list}");
    let loaded = server.site.read("loaded");
    assert!(!loaded.lines().last().expect("the mold's").eq(&pid), "{loaded}");
    let advice = server.control(["mem", "--advise", "--json"]).succeeded().out;
    assert!(!advice.contains("one.pl"), "the mold has it: {advice}");
}

#[test]
fn code_that_a_refork_has_shared_is_loaded_at_the_next_start_too() {
    let app = "sub { require Late; [200, [], [$$]] }";
    let mut server =
        serve(site().file("app.psgi", app), &format!("HistoryFile off\nPerlPreload auto\nPerlLib lib\n{APP}"));
    server.text("/");
    server.until_idle(2);
    server.control(["refork"]).succeeded();
    server.text("/");
    stop(&mut server);
    let list = stored(&server);
    let modules = list["pools"]["default"]["code"]["modules"].as_array().expect("a list");
    assert!(modules.iter().any(|module| module[0] == "Late.pm"), "{list}");
}
