//! The program for a script, by mod_fcgid's directives.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use config::fastcgi_servers::StaticServer;
use config::{Config, Settings};
use wire::fcgid::ProgramSpec;

/// mod_fcgid's defaults.
const MAX_PROCESSES: u64 = 1000;
const MAX_OF_CLASS: u64 = 100;
const MIN_OF_CLASS: u64 = 3;
const IDLE: Duration = Duration::from_secs(300);
const LIFETIME: Duration = Duration::from_secs(3600);

/// Variables of a request that a program also has from its start on.
const OF_THE_PROCESS: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "TZ"];

/// The program of the virtual host with index `host` for `script`. `variables` are those of the request.
pub fn of(host: u16, settings: &Settings, script: &Path, variables: &[(Vec<u8>, Vec<u8>)]) -> ProgramSpec {
    let command = settings.fcgid.wrapper(script).map(|wrapper| &wrapper.command[..]);
    match command {
        Some([program, arguments @ ..]) => {
            let spec = of_file(host, settings, Path::new(program), variables);
            let arguments = arguments.iter().map(|argument| argument.clone().into_bytes()).collect();
            ProgramSpec { arguments, ..spec }
        }
        _ => of_file(host, settings, script, variables),
    }
}

/// The program of the virtual host with index `host` in this file, without arguments.
pub fn of_file(host: u16, settings: &Settings, file: &Path, variables: &[(Vec<u8>, Vec<u8>)]) -> ProgramSpec {
    let rules = &settings.fcgid;
    let inherited = variables.iter().filter(|(name, _)| OF_THE_PROCESS.iter().any(|known| known.as_bytes() == name));
    let mut environment: Vec<Vec<u8>> = inherited.map(|(name, value)| [&name[..], b"=", value].concat()).collect();
    environment.extend(rules.initial_env.iter().map(|(name, value)| format!("{name}={value}").into_bytes()));
    ProgramSpec {
        host,
        file: file.to_owned(),
        arguments: Vec::new(),
        environment,
        folder: file.parent().unwrap_or(Path::new("/")).to_owned(),
        limits: [settings.program.cpu, settings.program.memory, settings.program.processes],
        most: number(rules.most, MAX_PROCESSES),
        most_of_class: number(rules.most_of_class, MAX_OF_CLASS),
        least_of_class: number(rules.least_of_class, MIN_OF_CLASS),
        idle_s: rules.idle.unwrap_or(IDLE).as_secs(),
        lifetime_s: rules.lifetime.unwrap_or(LIFETIME).as_secs(),
        most_requests: rules.most_requests.unwrap_or(0),
        standing: 0,
    }
}

/// A program of `FastCgiServer`.
pub struct StandingProgram {
    pub server: Arc<StaticServer>,
    pub spec: Rc<ProgramSpec>,
}

/// All programs of `FastCgiServer`. They depend on the configuration alone, so that its processes can start before a
/// request.
pub fn standing(config: &Config) -> Vec<StandingProgram> {
    let of =
        |server: &Arc<StaticServer>| StandingProgram { server: server.clone(), spec: of_server(config, server).into() };
    config.fastcgi_servers.iter().map(of).collect()
}

fn of_server(config: &Config, server: &StaticServer) -> ProgramSpec {
    let settings = config.settings(&config.sections(server.host, "", &server.file), false);
    let value = |name: &str| config.facts.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let inherited =
        OF_THE_PROCESS.iter().filter_map(|name| Some((name.as_bytes().to_vec(), value(name)?.into_bytes())));
    let spec = of(server.host, &settings, &server.file, &inherited.collect::<Vec<_>>());
    let file = server.file.clone();
    ProgramSpec {
        folder: file.parent().unwrap_or(Path::new("/")).to_owned(),
        file,
        arguments: Vec::new(),
        most: u32::MAX,
        most_of_class: server.processes,
        least_of_class: server.processes,
        // A process of FastCgiServer runs until it ends by itself.
        idle_s: 0,
        lifetime_s: 0,
        most_requests: 0,
        standing: server.processes,
        ..spec
    }
}

fn number(set: Option<u64>, default: u64) -> u32 {
    u32::try_from(set.unwrap_or(default)).unwrap_or(u32::MAX)
}
