//! FastCGI programs that this server starts: mod_fcgid's directives.

use crate::draft::Draft;
use crate::model::fastcgi::fcgid::FcgidWrapper;
use crate::syntax::words::split;
use crate::table::row::{
    ANYWHERE, CONTAINERS, FILE_INFO, HOSTS, Row, SERVER, duration, flag, number, path, rows, size, word, words,
};

/// Largest number of processes, and of requests of one process.
const MAX_COUNT: u64 = 1 << 32;

pub static ROWS: &[Row] = rows![
    "mod_fcgid.c",
    words("FcgidWrapper", FILE_INFO, "command [.suffix] [virtual]", 1..=3, wrapper)
        .aliases(&["FCGIWrapper"])
        .because("the script itself is executed"),
    "Program that answers for the FastCGI scripts of this place, or for those with this suffix, instead of the scripts \
     themselves. With `virtual` the script need not exist. A Perl program can often run as PsgiApp.",
    path("FcgidAuthenticator", CONTAINERS, |d, file| d.settings().fcgid.guards.authenticator = Some(file))
        .aliases(&["FastCgiAuthenticator"])
        .because("AuthBasicProvider checks passwords"),
    "FastCGI program that checks the password of a user whom `Require` asks for, with `AuthType Basic` \
     (docs/operating/fastcgi.md). A status of 200 admits the user; its headers `Variable-NAME` are variables of the request.",
    path("FcgidAuthorizer", CONTAINERS, |d, file| d.settings().fcgid.guards.authorizer = Some(file))
        .aliases(&["FastCgiAuthorizer"])
        .because("Require decides"),
    "FastCGI program that decides, after `Require`, whether the user may have the page. A status of 200 does.",
    path("FcgidAccessChecker", CONTAINERS, |d, file| d.settings().fcgid.guards.access_checker = Some(file))
        .aliases(&["FastCgiAccessChecker"])
        .because("Require decides"),
    "FastCGI program that decides, before `Require`, whether the client may have the page. A status of 200 does.",
    flag("FcgidAuthenticatorAuthoritative", CONTAINERS, |d, on| {
        d.settings().fcgid.guards.authenticator_decides = Some(on)
    })
    .aliases(&["FastCgiAuthenticatorAuthoritative"])
    .default("on", "as in mod_fcgid"),
    "With `off`, AuthBasicProvider checks the password of a user whom the program refuses.",
    flag("FcgidAuthorizerAuthoritative", CONTAINERS, |d, on| d.settings().fcgid.guards.authorizer_decides = Some(on))
        .aliases(&["FastCgiAuthorizerAuthoritative"])
        .default("on", "as in mod_fcgid"),
    "With `off`, `Require` alone decides about a user whom the program refuses.",
    flag("FcgidAccessCheckerAuthoritative", CONTAINERS, |d, on| {
        d.settings().fcgid.guards.access_checker_decides = Some(on)
    })
    .aliases(&["FastCgiAccessCheckerAuthoritative"])
    .default("on", "as in mod_fcgid"),
    "With `off`, `Require` alone decides about a client that the program refuses.",
    words("FcgidInitialEnv", ANYWHERE, "name [value]", 1..=2, |d, args| {
        let [name, value @ ..] = args else { return Ok(()) };
        let value = value.first().cloned().unwrap_or_default();
        d.settings().response.env.push((name.clone(), Some(value.clone())));
        d.settings().fcgid.initial_env.push((name.clone(), value));
        Ok(())
    })
    .aliases(&["DefaultInitEnv"])
    .because("programs start with PATH alone"),
    "A variable of the environment with which FastCGI programs start; it is also a variable of each request.",
    words("FcgidPassHeader", HOSTS, "name", 1..=1, |d, args| {
        let names = args.iter().map(|name| name.to_ascii_lowercase());
        d.settings().fcgid.pass_headers.extend(names);
        Ok(())
    })
    .because("as for CGI programs: all but credentials"),
    "A header field that FastCGI programs of fcgid-script get although CGI programs do not, such as Authorization.",
    number("FcgidMaxProcesses", SERVER, 1..=MAX_COUNT, |d, n| d.settings().fcgid.most = Some(n))
        .aliases(&["MaxProcessCount"])
        .default("1000", "as in mod_fcgid"),
    "Maximum number of FastCGI processes of all programs. An idle process of another program ends for a new one.",
    number("FcgidMaxProcessesPerClass", HOSTS, 1..=MAX_COUNT, |d, n| d.settings().fcgid.most_of_class = Some(n))
        .aliases(&["DefaultMaxClassProcessCount"])
        .default("100", "as in mod_fcgid; CgiMaxProcesses limits requests at the same time"),
    "Maximum number of processes of one FastCGI program. Further requests wait for one of them.",
    number("FcgidMinProcessesPerClass", HOSTS, 0..=MAX_COUNT, |d, n| d.settings().fcgid.least_of_class = Some(n))
        .aliases(&["DefaultMinClassProcessCount"])
        .default("3", "as in mod_fcgid"),
    "Number of processes of one FastCGI program that remain although they are idle.",
    duration("FcgidIdleTimeout", HOSTS, |d, time| d.settings().fcgid.idle = Some(time))
        .aliases(&["IdleTimeout"])
        .default("300", "as in mod_fcgid"),
    "Time after which an idle FastCGI process ends; 0 is unlimited.",
    duration("FcgidProcessLifeTime", HOSTS, |d, time| d.settings().fcgid.lifetime = Some(time))
        .aliases(&["ProcessLifeTime"])
        .default("3600", "as in mod_fcgid"),
    "Age at which a FastCGI process ends once it is idle; 0 is unlimited.",
    number("FcgidMaxRequestsPerProcess", HOSTS, 0..=MAX_COUNT, |d, n| d.settings().fcgid.most_requests = Some(n))
        .aliases(&["MaxRequestsPerProcess"])
        .default("0", "as in mod_fcgid: a process that leaks is rare"),
    "Number of requests after which a FastCGI process is replaced; 0 is unlimited.",
    duration("FcgidIOTimeout", HOSTS, |d, time| d.settings().fcgid.io = Some(time))
        .aliases(&["IPCCommTimeout"])
        .default("40", "as in mod_fcgid"),
    "Longest time in which a FastCGI program neither takes nor sends a byte; then the client gets 504 and the process ends.",
    duration("FcgidConnectTimeout", HOSTS, |d, time| d.settings().fcgid.connect = Some(time))
        .aliases(&["IPCConnectTimeout"])
        .because("RequestTimeout applies"),
    "Longest wait of a request for a process of a FastCGI program; then the client gets 503.",
    duration("FcgidBusyTimeout", HOSTS, |d, time| d.settings().fcgid.busy = Some(time))
        .aliases(&["BusyTimeout"])
        .because("RequestTimeout applies"),
    "Longest time of one request to a FastCGI program; then the client gets 504 and the process ends.",
    size("FcgidMaxRequestLen", HOSTS, |d, bytes| d.settings().fcgid.most_bytes = Some(bytes))
        .aliases(&["MaxRequestLen"])
        .because("LimitRequestBody applies"),
    "Longest body in bytes of a request to a FastCGI program; longer ones are answered 413.",
    word("FcgidFixPathinfo", SERVER, "0|1", |_, word| match word {
        "0" | "1" => Ok(()),
        _ => Err(format!("expected 0 or 1, got \"{word}\"")),
    })
    .aliases(&["PHP_Fix_Pathinfo_Enable"])
    .default("0", "as in mod_fcgid"),
    "No effect: SCRIPT_NAME and PATH_INFO are always those of the file that exists.",
];

/// `FcgidWrapper command [.suffix] [virtual]`
fn wrapper(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [command, options @ ..] = args else { return Ok(()) };
    let command = split(command)?;
    if !command.first().is_some_and(|program| program.starts_with('/')) {
        return Err(format!("expected the absolute path of a program, got \"{}\"", args[0]));
    }
    let (mut suffix, mut is_virtual) = (None, false);
    for option in options {
        match option.as_str() {
            word if word.eq_ignore_ascii_case("virtual") => is_virtual = true,
            end if end.starts_with('.') && !end.contains('/') => suffix = Some(end.to_owned()),
            other => return Err(format!("expected .suffix or virtual, got \"{other}\"")),
        }
    }
    draft.settings().fcgid.wrappers.push(FcgidWrapper { command, suffix, is_virtual });
    Ok(())
}
