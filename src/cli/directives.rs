//! `cameleer run …` as directives: what `--show-config` prints and the configuration reads as `command line`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::run::{Program, Run};
use super::{Misuse, development};
use crate::master::listeners::{self, Listeners};

/// What the directives depend on besides the options.
#[derive(Debug, Default)]
pub struct Surroundings {
    folder: PathBuf,
    /// Names of environment variables that requests may see.
    env: Vec<String>,
    port: Option<String>,
    concurrency: Option<String>,
    /// Where the certificate of `--tls` is kept.
    certificates: PathBuf,
    /// What this machine calls itself.
    host_name: Option<String>,
    /// Addresses of systemd's sockets.
    passed: Vec<String>,
}

/// What kind of program it is.
enum Kind {
    Psgi(PathBuf),
    Code(String),
    Script(PathBuf),
    Folder(PathBuf),
    Handler(String),
}

/// Not the program's business, ours and systemd's; and what is said in another way.
const HIDDEN: [&str; 5] = ["CAMELEER_", "LISTEN_", "NOTIFY_SOCKET", "WATCHDOG_", "PLACK_ENV"];

impl Surroundings {
    /// This process's.
    pub fn ours() -> anyhow::Result<Surroundings> {
        let var = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut env: Vec<String> = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        env.retain(|name| is_plain(name) && HIDDEN.iter().all(|prefix| !name.starts_with(prefix)));
        // The shell's note to itself.
        env.retain(|name| name != "_");
        env.sort();
        let passed = Listeners::passed_addresses().iter().map(listeners::name).collect();
        let folder = std::env::current_dir()?;
        let home = var("XDG_CONFIG_HOME").or_else(|| Some(var("HOME")? + "/.config"));
        let home = home.map_or_else(|| folder.clone(), PathBuf::from);
        Ok(Surroundings {
            folder,
            env,
            port: var("PORT"),
            concurrency: var("WEB_CONCURRENCY"),
            certificates: home.join("cameleer/development"),
            host_name: std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned()),
            passed,
        })
    }
}

/// The directives.
pub fn of(run: &Run, around: &Surroundings) -> anyhow::Result<String> {
    let mut text = Text::default();
    let addresses = listen(run, around)?;
    for address in &addresses {
        match run.tls {
            true => text.line("Listen", &[address, "https"]),
            false => text.line("Listen", &[address]),
        }
    }
    if run.tls {
        tls(&addresses, around, &mut text)?;
    }
    pool(run, around, &mut text)?;
    files(run, around, &mut text);
    program(&run.program, around, &mut text)?;
    Ok(text.0)
}

/// The directives of a program that is only to be checked.
pub fn of_program(what: &Program, around: &Surroundings) -> anyhow::Result<String> {
    let mut text = Text::default();
    // Nothing is bound; a configuration without it would be wrong.
    text.line("Listen", &["5000"]);
    program(what, around, &mut text)?;
    Ok(text.0)
}

/// A certificate of our own making, kept in the user's folder.
fn tls(addresses: &[String], around: &Surroundings, text: &mut Text) -> anyhow::Result<()> {
    let files = development::certificate(&around.certificates, addresses, around.host_name.as_deref())?;
    text.line("SSLCertificateFile", &[&files.certificate.display().to_string()]);
    text.line("SSLCertificateKeyFile", &[&files.key.display().to_string()]);
    text.line("Protocols", &["h2", "http/1.1"]);
    Ok(())
}

fn listen(run: &Run, around: &Surroundings) -> anyhow::Result<Vec<String>> {
    if !run.listen.is_empty() {
        return run.listen.iter().map(|spelled| address(spelled, around)).collect();
    }
    let port = run.port.map(|port| port.to_string()).or_else(|| around.port.clone());
    if run.host.is_none() && port.is_none() && !around.passed.is_empty() {
        return Ok(around.passed.clone());
    }
    let port = port.unwrap_or_else(|| "5000".to_string());
    let port: u16 = port.parse().map_err(|_| Misuse(format!("PORT: expected a number up to 65535, got \"{port}\"")))?;
    Ok(vec![format!("{}:{port}", host(run.host.as_deref().unwrap_or("")))])
}

/// `HOST:PORT`, `:PORT`, `PORT` and paths of sockets, as plackup takes them.
fn address(spelled: &str, around: &Surroundings) -> anyhow::Result<String> {
    if spelled.contains('/') || spelled.ends_with(".sock") {
        let path = spelled.strip_prefix("unix:").unwrap_or(spelled);
        return Ok(around.folder.join(path).display().to_string());
    }
    if spelled.ends_with(":ssl") {
        return Err(Misuse(format!("--listen {spelled}: say --tls, which is for every address")).into());
    }
    let (name, port) = spelled.rsplit_once(':').unwrap_or(("", spelled));
    let port: u16 = port.parse().map_err(|_| {
        Misuse(format!("--listen {spelled}: expected HOST:PORT, :PORT, PORT or the path of a unix socket"))
    })?;
    Ok(format!("{}:{port}", host(name)))
}

/// plackup's `0` and nothing at all mean every address.
fn host(name: &str) -> &str {
    if matches!(name, "" | "0" | "*") { "0.0.0.0" } else { name }
}

fn pool(run: &Run, around: &Surroundings, text: &mut Text) -> anyhow::Result<()> {
    let said = run.workers.map(|n| n.to_string()).or_else(|| around.concurrency.clone());
    let said = said.unwrap_or_else(|| "5".to_string());
    let workers: u32 = said.parse().unwrap_or(0);
    if workers == 0 {
        return Err(Misuse(format!("--workers: expected a number from 1, got \"{said}\"")).into());
    }
    for name in ["StartServers", "MinSpareServers", "MaxSpareServers", "MaxClients"] {
        text.line(name, &[&workers.to_string()]);
    }
    if let Some(range) = &run.max_requests {
        text.line("MaxRequestsPerChild", &[range]);
    }
    Ok(())
}

fn files(run: &Run, around: &Surroundings, text: &mut Text) {
    let pid = run.pid.as_ref().map(|path| around.folder.join(path).display().to_string());
    for (name, value) in [("User", &run.user), ("Group", &run.group), ("PidFile", &pid), ("ErrorLog", &run.error_log)] {
        if let Some(value) = value {
            text.line(name, &[value]);
        }
    }
    if let Some(level) = &run.log_level {
        text.line("LogLevel", &[level]);
    }
    if let Some(log) = &run.access_log {
        text.line("CustomLog", &[log, "combined"]);
    }
}

fn program(program: &Program, around: &Surroundings, text: &mut Text) -> anyhow::Result<()> {
    for folder in &program.include {
        text.line("PerlLib", &[&around.folder.join(folder).display().to_string()]);
    }
    let kind = kind(program, around)?;
    let preloaded = match kind {
        Kind::Handler(_) => &program.modules[..program.modules.len() - 1],
        _ => &program.modules[..],
    };
    text.line("PerlPassEnv", &["PLACK_ENV"]);
    if !around.env.is_empty() {
        let names: Vec<&str> = around.env.iter().map(String::as_str).collect();
        text.line("PerlPassEnv", &names);
    }
    for module in preloaded {
        text.line("PerlModule", &[module]);
    }
    match kind {
        Kind::Psgi(file) => psgi("PsgiApp", &file.display().to_string(), text),
        Kind::Code(code) => psgi("PsgiEval", &one_line(&code), text),
        Kind::Script(file) => script(&file, text),
        Kind::Folder(folder) => text.line("ScriptAlias", &["/", &format!("{}/", folder.display())]),
        Kind::Handler(module) => handler(&module, text),
    }
    Ok(())
}

fn psgi(directive: &str, value: &str, text: &mut Text) {
    text.line(directive, &[value]);
    text.section("Location", "/", &[("SetHandler", "psgi")]);
}

fn script(file: &Path, text: &mut Text) {
    let name = file.display().to_string();
    // What follows in the URL is the script's PATH_INFO.
    text.line("ScriptAlias", &["/", &format!("{name}/")]);
    text.line("RegistryPreload", &["/", &name]);
}

fn handler(module: &str, text: &mut Text) {
    text.line("PerlModule", &[module]);
    text.section("Location", "/", &[("SetHandler", "perl-script"), ("PerlHandler", module)]);
}

fn kind(program: &Program, around: &Surroundings) -> anyhow::Result<Kind> {
    if let Some(code) = &program.eval {
        return Ok(Kind::Code(code.clone()));
    }
    let path = match (program.path(), program.modules.last()) {
        (Some(path), _) => around.folder.join(path),
        (None, Some(module)) => return Ok(Kind::Handler(module.clone())),
        (None, None) => around.folder.join("app.psgi"),
    };
    if path.is_dir() {
        // Without the slash at its end, if there was one.
        return Ok(Kind::Folder(path.components().collect()));
    }
    if !path.is_file() {
        let advice = "give app.psgi, a CGI script, a folder of scripts, -M Module or -e CODE";
        return Err(Misuse(format!("{}: no such file; {advice}", path.display())).into());
    }
    Ok(if is_script(&path) { Kind::Script(path) } else { Kind::Psgi(path) })
}

/// By its extension; without one, by its `#!` line.
fn is_script(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("cgi" | "pl") => true,
        Some("psgi") => false,
        _ => {
            let first = std::fs::File::open(path).ok().and_then(|file| BufReader::new(file).split(b'\n').next()?.ok());
            first.is_some_and(|line| line.starts_with(b"#!"))
        }
    }
}

/// Directives are lines; code of several lines becomes a Perl string that is evaluated.
fn one_line(code: &str) -> String {
    if !code.contains(['\n', '\r']) {
        return code.to_string();
    }
    let mut quoted = String::from("eval \"");
    for c in code.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '"' | '\\' | '$' | '@' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted + "\" || die $@"
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Directives as text.
#[derive(Debug, Default)]
struct Text(String);

impl Text {
    fn line(&mut self, name: &str, args: &[&str]) {
        self.0.push_str(name);
        for arg in args {
            self.0.push(' ');
            self.0.push_str(&quote(arg));
        }
        self.0.push('\n');
    }

    fn section(&mut self, name: &str, arg: &str, inside: &[(&str, &str)]) {
        self.0.push_str(&format!("<{name} {}>\n", quote(arg)));
        for (name, value) in inside {
            self.0.push_str("    ");
            self.line(name, &[value]);
        }
        self.0.push_str(&format!("</{name}>\n"));
    }
}

/// As httpd reads it: only a word with blanks or quotes needs quotation marks.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-:*+,=@%~[]|".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        run: Run,
    }

    fn check(line: &str, around: Surroundings, expected: &str) {
        let words = std::iter::once("run").chain(line.split(' ').filter(|word| !word.is_empty()));
        let run = Cli::try_parse_from(words.map(|word| word.replace('~', " "))).expect("parsed").run;
        assert_eq!(of(&run, &around).expect("directives"), expected, "{line}");
    }

    fn site() -> Surroundings {
        let folder = std::env::temp_dir().join(format!("cameleer-run-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("cgi-bin")).expect("folder");
        std::fs::write(folder.join("app.psgi"), "sub {}").expect("file");
        std::fs::write(folder.join("info"), "#!/usr/bin/perl\n").expect("file");
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
    fn a_script_is_preloaded_and_answers_everywhere() {
        let (around, pool) = (site(), pool(5));
        let folder = around.folder.display().to_string();
        check(
            "info -p 80",
            around,
            &format!(
                "Listen 0.0.0.0:80\n{pool}PerlPassEnv PLACK_ENV\nScriptAlias / {folder}/info/\nRegistryPreload / {folder}/info\n"
            ),
        );
    }

    #[test]
    fn a_folder_is_a_script_alias() {
        let around = site();
        let folder = around.folder.display().to_string();
        check(
            "cgi-bin -l :81 -l a.sock --workers 2",
            around,
            &format!(
                "Listen 0.0.0.0:81\nListen {folder}/a.sock\n{}PerlPassEnv PLACK_ENV\nScriptAlias / {folder}/cgi-bin/\n",
                pool(2)
            ),
        );
    }

    #[test]
    fn the_last_module_without_a_program_is_the_handler() {
        let around = Surroundings { env: vec!["HOME".into(), "PATH".into()], ..Surroundings::default() };
        check(
            "-M CGI -M My::Handler -o localhost --max-requests 100-200",
            around,
            &format!(
                "Listen localhost:5000\n{}MaxRequestsPerChild 100-200\nPerlPassEnv PLACK_ENV\nPerlPassEnv HOME PATH\nPerlModule CGI\n\
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
    fn code_of_several_lines_becomes_one() {
        assert_eq!(one_line("# $x\n\"a\""), "eval \"# \\$x\\n\\\"a\\\"\" || die $@");
    }

    #[test]
    fn the_environment_of_hosts_is_honoured_and_options_win() {
        let heroku = || Surroundings { port: Some("81".into()), concurrency: Some("3".into()), ..site() };
        let run = |line: &[&str]| {
            Cli::try_parse_from(std::iter::once("run").chain(line.iter().copied())).expect("parsed").run
        };
        assert!(of(&run(&[]), &heroku()).expect("directives").starts_with("Listen 0.0.0.0:81\nStartServers 3\n"));
        let said = of(&run(&["-p", "82", "--workers", "4"]), &heroku()).expect("directives");
        assert!(said.starts_with("Listen 0.0.0.0:82\nStartServers 4\n"), "{said}");
    }

    #[test]
    fn wrong_spellings_are_named() {
        let run = Cli::try_parse_from(["run", "-l", "localhost:http"]).expect("parsed").run;
        let error = of(&run, &site()).expect_err("no port").to_string();
        assert_eq!(error, "--listen localhost:http: expected HOST:PORT, :PORT, PORT or the path of a unix socket");
    }
}
