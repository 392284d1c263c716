//! A request for a FastCGI program that this server starts.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use config::Settings;
use fastcgi::request::FastcgiRole;
use wire::fcgid::{PHASE_OF_PROGRAM, PHASE_OF_WAITING, ProgramSpec};

use crate::fcgid::exchange::{self, ExchangeEnd, ExchangeLimits, ProgramRequest};
use crate::fcgid::lease::{Lease, NoLease};
use crate::fcgid::spec::{self, StandingProgram};
use crate::log_context::report;
use crate::program::{refused, refused_wrapped};

/// `FcgidIOTimeout`; mod_fcgid's default.
const IO: Duration = Duration::from_secs(40);
/// Return value of a handler that has answered.
const OK: i32 = 0;

/// The FastCGI programs that a worker can reach.
pub struct FcgidPrograms<'a> {
    /// Socket to the process that starts the programs.
    pub manager: &'a OwnedFd,
    /// Programs of `FastCgiServer`.
    pub standing: &'a [StandingProgram],
}

/// Answers with the output of the program. Returns OK, or the status of an error.
pub fn respond(programs: &FcgidPrograms<'_>, settings: &Settings, request: u64, begun: Instant) -> i32 {
    let name = apache::filename(request);
    let script = Path::new(OsStr::from_bytes(&name));
    let wrapper = settings.fcgid.wrapper(script).filter(|_| settings.fcgid.server.is_none());
    let refusal = match wrapper {
        Some(wrapper) => refused_wrapped(settings, request, script, wrapper.is_virtual),
        None => refused(settings, request, script),
    };
    if let Some(status) = refusal {
        return status;
    }
    let variables = variables(settings, request);
    let length = apache::header_in(request, b"content-length")
        .and_then(|text| std::str::from_utf8(&text).ok()?.parse::<u64>().ok());
    if let (Some(most), Some(length)) = (settings.fcgid.most_bytes, length)
        && length > most
    {
        return failed(
            request,
            413,
            &format!("{}: a body of {length} bytes exceeds FcgidMaxRequestLen", script.display()),
        );
    }
    let server = programs.standing.iter().find(|it| settings.fcgid.server.as_ref() == Some(&it.server));
    let spec = match server {
        Some(server) => ProgramSpec::clone(&server.spec),
        None => spec::of(apache::requested(request).host, settings, script, &variables),
    };
    let sent = ProgramRequest { role: FastcgiRole::Responder, variables: &variables };
    let exchange = FcgidExchange { request, spec: &spec, sent, connect_wait: settings.fcgid.connect };
    ask(programs.manager, &exchange, limits(settings, begun))
}

/// A request for a process of a program.
pub(super) struct FcgidExchange<'a> {
    pub(super) request: u64,
    pub(super) spec: &'a ProgramSpec,
    pub(super) sent: ProgramRequest<'a>,
    /// Maximum time until a process is free.
    pub(super) connect_wait: Option<Duration>,
}

/// Asks a process of the program. A used process that ends without a response, as it may by its own rules, has lost
/// nothing where the method is idempotent (RFC 9110, section 9.2.2): a new process gets the request, once.
pub(super) fn ask(manager: &OwnedFd, exchange: &FcgidExchange<'_>, limits: ExchangeLimits) -> i32 {
    let FcgidExchange { request, spec, sent, connect_wait } = *exchange;
    let file = spec.file.display();
    let patience = connect_wait.and_then(|wait| Instant::now().checked_add(wait)).into_iter();
    let by = patience.chain(limits.by).min();
    let may_repeat = matches!(apache::method(request).as_str(), "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE");
    let mut is_fresh = false;
    loop {
        libperl::activity_phase(PHASE_OF_WAITING);
        let lease = Lease::wait(manager, request, spec, is_fresh, by);
        libperl::activity_phase(0);
        let mut lease = match lease {
            Ok(lease) => lease,
            Err(NoLease::NotStarted(why)) => return failed(request, 500, &why),
            Err(NoLease::ClientLeft) => return OK,
            Err(NoLease::Busy) => {
                return failed(
                    request,
                    503,
                    &format!("{file}: all processes of the FastCGI program are busy (FcgidMaxProcessesPerClass)"),
                );
            }
            Err(NoLease::Lost(error)) => return failed(request, 503, &format!("{file}: no FastCGI process: {error}")),
        };
        let (is_used, pid) = (lease.is_used, lease.pid);
        libperl::activity_phase(PHASE_OF_PROGRAM);
        let ended = exchange::run(&mut lease, request, sent, limits);
        libperl::activity_phase(0);
        let (status, why) = match ended {
            ExchangeEnd::Whole => {
                lease.end();
                return OK;
            }
            ExchangeEnd::Unheard => return OK,
            ExchangeEnd::NoAnswer if is_used && may_repeat && !is_fresh => {
                is_fresh = true;
                continue;
            }
            ExchangeEnd::TooLate => {
                (504, "took longer than RequestTimeout or FcgidBusyTimeout and was ended".to_owned())
            }
            ExchangeEnd::Silent => (504, "neither took nor sent a byte for FcgidIOTimeout and was ended".to_owned()),
            ExchangeEnd::NoAnswer => (500, "ended before it sent a byte; its message may be in this log".to_owned()),
            ExchangeEnd::Closed => (500, "closed the connection before the end of its response".to_owned()),
            ExchangeEnd::Protocol(error) => (500, format!("gave no valid response: {error}")),
            ExchangeEnd::Lost(error) => (500, format!("lost its connection: {error}")),
        };
        return failed(request, status, &format!("{file}: the FastCGI program {why} (pid {pid})"));
    }
}

pub(super) fn limits(settings: &Settings, begun: Instant) -> ExchangeLimits {
    let all = [Some(settings.request_timeout).filter(|time| !time.is_zero()), settings.fcgid.busy];
    let by = all.into_iter().flatten().min().and_then(|time| begun.checked_add(time));
    ExchangeLimits { by, io: settings.fcgid.io.unwrap_or(IO) }
}

/// The variables of CGI, and the fields that `FcgidPassHeader` adds.
pub(super) fn variables(settings: &Settings, request: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut variables = apache::cgi_env();
    variables.insert(b"FCGI_ROLE".to_vec(), b"RESPONDER".to_vec());
    for name in &settings.fcgid.pass_headers {
        if let Some(value) = apache::header_in(request, name.as_bytes()) {
            variables.insert(format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_")).into_bytes(), value);
        }
    }
    for name in &settings.fcgid.plain_headers {
        if let Some(value) = apache::header_in(request, name.as_bytes()) {
            variables
                .insert(format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_")).into_bytes(), value.clone());
            variables.entry(name.clone().into_bytes()).or_insert(value);
        }
    }
    variables.into_iter().collect()
}

pub(super) fn failed(request: u64, status: u16, why: &str) -> i32 {
    apache::set_note(request, b"error-notes", why.as_bytes());
    apache::fail(request, status);
    report(why);
    i32::from(status)
}
