//! CGI programs: how they run, and their resource limits.

use crate::draft::Draft;
use crate::model::program::{CgiMode, Limit};
use crate::table::row::{ANYWHERE, AUTH_CONFIG, Row, SERVER, flag, number, rows, word, words};

pub static ROWS: &[Row] = rows![
    "core.c",
    word("CgiMode", ANYWHERE, "program|fork|persistent", mode).of("cameleer.c").default(
        "program",
        "CGI scripts are written for a process of their own: globals, files and locks end with it, and so does \
             `exit`"
    ),
    "How Perl scripts of a cgi-script place run. `program`: the kernel executes the file by its `#!` line, as under \
     httpd's mod_cgi. `fork`: each request runs in a child of the worker, which has compiled the script; globals start \
     as they were after compilation, and end with the request; under `PerlTaintCheck On` these scripts run as \
     programs. `persistent`: the script is compiled once in the \
     worker, and globals persist, as with Apache::Registry; for scripts written for that. Files that are not Perl are \
     always executed.",
    number("CgiMaxProcesses", SERVER, 1..=20000, |d, n| d.config.max_programs = n as u32)
        .of("cameleer.c")
        .default("64", "a Perl program takes 10 to 50 MB; more at once help only programs that wait for others"),
    "Maximum number of CGI programs at the same time where `CgiMode` is `program`. Each has a small process without Perl \
     that starts and watches it. Further requests wait, up to QueueLength and QueueTimeout. Programs of places with Perl \
     handlers or filters are not counted: a worker starts them, and MaxClients limits it.",
    flag("CGIPassAuth", AUTH_CONFIG, |d, on| d.settings().program.pass_auth = Some(on))
        .default("off", "other users of the machine can read the environment of a program"),
    "On: CGI and FastCGI programs receive the client's Authorization header as HTTP_AUTHORIZATION, and check passwords \
     themselves, as httpd 2.4 does. Handlers, Registry scripts and PSGI applications can read the header without it.",
    words("RLimitCPU", ANYWHERE, "seconds|max [seconds|max]", 1..=2, cpu)
        .because("the server's own limit applies; RequestTimeout ends long requests"),
    "Maximum CPU time of a program of a cgi-script place, and of each of its children: the soft limit, and the hard \
     limit. Scripts under `CgiMode fork` and `persistent` are not limited: see Apache::Resource.",
    words("RLimitMEM", ANYWHERE, "bytes|max [bytes|max]", 1..=2, memory).because("the server's own limit applies"),
    "As RLimitCPU, for the address space in bytes.",
    words("RLimitNPROC", ANYWHERE, "number|max [number|max]", 1..=2, processes)
        .because("the server's own limit applies"),
    "As RLimitCPU, for the number of processes of the program's user, which include the server's processes.",
];

fn mode(draft: &mut Draft, word: &str) -> Result<(), String> {
    let mode = CgiMode::named(word).ok_or_else(|| format!("expected program, fork or persistent, got \"{word}\""))?;
    draft.settings().program.mode = Some(mode);
    Ok(())
}

fn cpu(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.settings().program.cpu = Some(limit(words)?);
    Ok(())
}

fn memory(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.settings().program.memory = Some(limit(words)?);
    Ok(())
}

fn processes(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.settings().program.processes = Some(limit(words)?);
    Ok(())
}

/// Parses the soft and the hard limit. A single number sets both.
fn limit(words: &[String]) -> Result<Limit, String> {
    let number = |word: &String| match word.as_str() {
        word if word.eq_ignore_ascii_case("max") => Ok(NO_LIMIT),
        word => word.parse().map_err(|_| format!("expected a number or max, got \"{word}\"")),
    };
    let soft = number(words.first().ok_or("expected a number or max")?)?;
    let hard = words.get(1).map(number).transpose()?.unwrap_or(soft);
    if soft > hard {
        Err("the soft limit (first number) must not exceed the hard limit (second number); swap the two".to_owned())
    } else {
        Ok((soft, hard))
    }
}

/// RLIM_INFINITY.
const NO_LIMIT: u64 = u64::MAX;
