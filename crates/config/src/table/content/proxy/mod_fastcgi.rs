//! Programs and applications that a file name stands for: mod_fastcgi's directives. Each adds a section for the file
//! that sets its handler, after all other sections.

use std::path::PathBuf;
use std::slice::Iter;
use std::sync::Arc;
use std::time::Duration;

use crate::draft::Draft;
use crate::model::context::{Rank, Scope};
use crate::model::fastcgi::fcgi::FcgiBackendType;
use crate::model::fastcgi::servers::{ExternalServer, StaticServer};
use crate::model::handler::{BackendHandler, Handler};
use crate::model::proxy::BackendUrl;
use crate::model::settings::PartialSettings;
use crate::table::row::{HOSTS, MANY, Row, SERVER, path, rows, word, words};

/// mod_fastcgi's `-idle-timeout`.
const IDLE: Duration = Duration::from_secs(30);
/// mod_fastcgi's `-restart-delay`.
const RESTART: Duration = Duration::from_secs(5);
/// mod_fastcgi's `-init-start-delay`.
const START: Duration = Duration::from_secs(1);
/// The handler's name for applications of FastCgiExternalServer.
const SCRIPT: &str = "fastcgi-script";
/// Largest number of processes.
const MAX_PROCESSES: u64 = 10_000;
/// Largest other number: 100 days in seconds.
const MAX_SECONDS: u64 = 100 * 24 * 3600;

pub static ROWS: &[Row] = rows![
    "mod_fastcgi.c",
    words("FastCgiServer", HOSTS, "file [-option value…]…", 1..=MANY, static_server)
        .because("programs of fcgid-script start with the first request"),
    "A FastCGI program of which `-processes` (1) run from the start on. It answers requests for its file and for paths below \
     it, whatever handler sections set, and needs no ExecCGI. A Perl program can often run as PsgiApp.",
    words(
        "FastCgiExternalServer",
        HOSTS,
        "file -host name:port|-socket path [-option value…]…",
        2..=MANY,
        external_server
    )
    .because("ProxyPass and SetHandler name applications by their address"),
    "A FastCGI application that runs already, as PHP-FPM. It answers requests for the file, which need not exist, and for \
     paths below it: an Alias or Action leads there.",
    words("FastCgiConfig", SERVER, "-option [value]…", 1..=MANY, dynamic)
        .because("the Fcgid… directives set the same limits"),
    "Limits of the FastCGI programs of fastcgi-script that no FastCgiServer names: `-maxProcesses` is FcgidMaxProcesses, \
     `-maxClassProcesses` FcgidMaxProcessesPerClass, `-idle-timeout` FcgidIOTimeout, `-initial-env` FcgidInitialEnv.",
    path("FastCgiIpcDir", SERVER, |d, folder| d.fastcgi_sockets = Some(folder))
        .default("logs/fastcgi", "as in mod_fastcgi"),
    "The folder of sockets whose names in FastCgiExternalServer are relative. It stands before these lines.",
    word("FastCgiWrapper", SERVER, "Off", |_, word| match word.eq_ignore_ascii_case("off") {
        true => Ok(()),
        false => Err(format!("expected Off, got \"{word}\": {}", ONE_USER)),
    })
    .aliases(&["FastCgiSuexec"])
    .default("Off", "all programs run as the user of the server"),
    "Whether suexec starts FastCGI programs, as the owners of their files. Only Off is supported.",
];

/// Advice for options of suexec.
const ONE_USER: &str = "FastCGI programs run as the server's User; for another user, let a service of that user listen at a \
    socket and write FastCgiExternalServer";

/// Settings that all three directives have.
#[derive(Default)]
struct Common {
    idle: Option<Duration>,
    connect: Option<Duration>,
    env: Vec<(String, String)>,
    headers: Vec<String>,
}

/// `FastCgiServer file [-option value…]…`
fn static_server(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((file, options)) = args.split_first() else { return Ok(()) };
    let (file, host) = (file_of(draft, file), draft.position.host);
    let (restart_delay, start_delay) = (RESTART, START);
    let mut server = StaticServer { file: file.clone(), host, processes: 1, restart_delay, start_delay };
    let (mut common, mut words) = (Common::default(), options.iter());
    while let Some(option) = words.next() {
        match &*option.to_ascii_lowercase() {
            "-processes" => server.processes = number(option, words.next(), 1..=MAX_PROCESSES)? as u32,
            "-restart-delay" => server.restart_delay = seconds(option, words.next())?,
            "-init-start-delay" => server.start_delay = seconds(option, words.next())?,
            "-socket" | "-port" => {
                text(option, words.next())?;
                draft.warn(&format!(
                    "{option} has no effect, because each process has a private socket: if others connect to it, start the \
                     program as a service and write FastCgiExternalServer"
                ));
            }
            _ => common.take(draft, option, &mut words)?,
        }
    }
    let server = Arc::new(server);
    let section = section(draft, file, "FastCgiServer")?;
    section.handler = Some(Handler::FcgidScript);
    section.fcgid.server = Some(server.clone());
    section.fcgid.io = Some(common.idle.unwrap_or(IDLE));
    section.fcgid.connect = common.connect;
    section.fcgid.initial_env = common.env;
    section.fcgid.plain_headers = common.headers;
    draft.config.fastcgi_servers.push(server);
    Ok(())
}

/// `FastCgiExternalServer file -host name:port|-socket path [-option value…]…`
fn external_server(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((file, options)) = args.split_first() else { return Ok(()) };
    let file = file_of(draft, file);
    let (mut common, mut words, mut url) = (Common::default(), options.iter(), None);
    while let Some(option) = words.next() {
        let found = match &*option.to_ascii_lowercase() {
            "-host" => address(text(option, words.next())?)?,
            "-socket" => socket(draft, text(option, words.next())?)?,
            "-initial-env" | "-priority" => {
                return Err(format!("{option} is for programs that FastCgiServer starts; remove it"));
            }
            _ => {
                common.take(draft, option, &mut words)?;
                continue;
            }
        };
        if url.replace(found).is_some() {
            return Err("expected one of -host and -socket, got two".to_owned());
        }
    }
    let url = url.ok_or("expected the address of the application: -host name:port or -socket path")?;
    let external = ExternalServer {
        file: file.clone(),
        idle_timeout: common.idle.unwrap_or(IDLE),
        connect_timeout: common.connect,
    };
    let section = section(draft, file, "FastCgiExternalServer")?;
    section.fcgi.named.push(url.origin());
    section.handler = Some(Handler::Backend(Box::new(BackendHandler { name: SCRIPT.to_owned(), url })));
    section.fcgi.external = Some(Arc::new(external));
    section.fcgi.backend_type = Some(FcgiBackendType::Generic);
    section.fcgi.pass_headers = common.headers;
    Ok(())
}

/// `FastCgiConfig -option [value]…`
fn dynamic(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (mut common, mut words) = (Common::default(), args.iter());
    while let Some(option) = words.next() {
        match &*option.to_ascii_lowercase() {
            "-maxprocesses" => draft.settings().fcgid.most = Some(number(option, words.next(), 1..=MAX_PROCESSES)?),
            "-maxclassprocesses" => {
                draft.settings().fcgid.most_of_class = Some(number(option, words.next(), 1..=MAX_PROCESSES)?);
            }
            // Processes start and end by the number of requests, without this calculation.
            "-minprocesses" | "-singlethreshold" | "-multithreshold" | "-processslack" | "-killinterval"
            | "-updateinterval" | "-startdelay" | "-startprocesses" | "-restart-delay" | "-init-start-delay" => {
                number(option, words.next(), 0..=MAX_SECONDS)?;
            }
            "-gainvalue" => drop(text(option, words.next())?),
            // A program whose file has changed is always started anew.
            "-autoupdate" | "-restart" => {}
            _ => common.take(draft, option, &mut words)?,
        }
    }
    let rules = &mut draft.settings().fcgid;
    rules.io = common.idle.or(rules.io);
    rules.connect = common.connect.or(rules.connect);
    rules.initial_env.extend(common.env);
    rules.plain_headers.extend(common.headers);
    Ok(())
}

impl Common {
    fn take(&mut self, draft: &mut Draft, option: &str, words: &mut Iter<'_, String>) -> Result<(), String> {
        match &*option.to_ascii_lowercase() {
            "-idle-timeout" => self.idle = Some(seconds(option, words.next())?),
            // Zero is the default, which sets no limit of its own.
            "-appconntimeout" => self.connect = Some(seconds(option, words.next())?).filter(|time| !time.is_zero()),
            "-pass-header" => self.headers.push(header(option, words.next())?),
            "-initial-env" => {
                let pair = text(option, words.next())?;
                let known = || draft.facts.env.iter().find(|(name, _)| name == pair);
                self.env.push(match pair.split_once('=') {
                    Some((name, value)) => (name.to_owned(), value.to_owned()),
                    None => known().cloned().unwrap_or_else(|| (pair.to_owned(), String::new())),
                });
            }
            // Every response is sent as it arrives.
            "-flush" => {}
            // Requests wait in the queue of this server.
            "-listen-queue-depth" => drop(number(option, words.next(), 0..=MAX_SECONDS)?),
            "-priority" => {
                let priority = text(option, words.next())?;
                if priority != "0" {
                    draft.warn(&format!(
                        "{option} {priority} has no effect; start the program by nice in a wrapper script"
                    ));
                }
            }
            "-user" | "-group" => {
                return Err(format!("{option} {}: {ONE_USER}", text(option, words.next())?));
            }
            "-nph" => return Err("-nph is not supported: the program must write a header of CGI".to_owned()),
            _ => {
                return Err(format!(
                    "unknown option \"{option}\"; see the list at `cameleer check --directives FastCgiServer`"
                ));
            }
        }
        Ok(())
    }
}

/// The file's name, without repeated slashes.
fn file_of(draft: &Draft, file: &str) -> PathBuf {
    draft.path(file).components().collect()
}

/// The settings of a new section for the file.
fn section<'a>(
    draft: &'a mut Draft,
    file: PathBuf,
    directive: &'static str,
) -> Result<&'a mut PartialSettings, String> {
    let host = usize::from(draft.position.host);
    let is_it =
        |number: u16| matches!(&draft.config.sections[usize::from(number)].scope, Scope::Program(it, _) if *it == file);
    if draft.containers[host].iter().any(|(_, number)| is_it(*number)) {
        return Err(format!("{} has a FastCgiServer or FastCgiExternalServer already", file.display()));
    }
    let number = draft.new_section(Scope::Program(file, directive), None, Rank::PROGRAM)?;
    draft.containers[host].push((Rank::PROGRAM, number));
    Ok(&mut draft.config.sections[usize::from(number)].own)
}

/// `name:port`
fn address(host: &str) -> Result<BackendUrl, String> {
    let has_port = host.rsplit_once(':').is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok());
    let url = BackendUrl::parse(&format!("fcgi://{host}")).ok().filter(|url| has_port && url.path.is_empty());
    url.ok_or_else(|| format!("expected name:port behind -host, got \"{host}\""))
}

/// The name of a socket; a relative one is in `FastCgiIpcDir`.
fn socket(draft: &Draft, name: &str) -> Result<BackendUrl, String> {
    let folder = draft.fastcgi_sockets.clone().unwrap_or_else(|| draft.path("logs/fastcgi"));
    let path = folder.join(name);
    BackendUrl::parse(&format!("unix:{}|fcgi://localhost", path.display()))
        .map_err(|_| format!("expected the path of a socket without |, got \"{name}\""))
}

fn text<'a>(option: &str, value: Option<&'a String>) -> Result<&'a str, String> {
    value.map(String::as_str).ok_or_else(|| format!("expected a value behind {option}"))
}

fn number(option: &str, value: Option<&String>, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    let value = text(option, value)?;
    value.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        format!("expected a number from {} to {} behind {option}, got \"{value}\"", range.start(), range.end())
    })
}

fn seconds(option: &str, value: Option<&String>) -> Result<Duration, String> {
    number(option, value, 0..=MAX_SECONDS).map(Duration::from_secs)
}

/// The name of a header field, which is also that of a variable.
fn header(option: &str, value: Option<&String>) -> Result<String, String> {
    let name = text(option, value)?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    match is_name && !name.eq_ignore_ascii_case("proxy") && !name.eq_ignore_ascii_case("http_proxy") {
        true => Ok(name.to_owned()),
        false => Err(format!("expected the name of a header field, not Proxy, behind {option}, got \"{name}\"")),
    }
}
