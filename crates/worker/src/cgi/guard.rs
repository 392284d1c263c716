//! A request for a FastCGI program that decides about access: FastCGI's section 6.3, with the variables of mod_fcgid.

use std::rc::Rc;
use std::time::Instant;

use apache::PlaceConfig;
use config::Settings;
use config::fastcgi_guards::GuardKind;
use fastcgi::request::FastcgiRole;
use wire::fcgid::ProgramSpec;

use super::Programs;
use super::fcgid::{FcgidExchange, ask, failed, limits, variables};
use crate::fcgid::exchange::ProgramRequest;
use crate::fcgid::spec;

/// Variables of the answer, and of the client's connection.
const NOT_FOR_GUARDS: [&str; 9] = [
    "CONTENT_LENGTH",
    "PATH_INFO",
    "PATH_TRANSLATED",
    "SCRIPT_NAME",
    "HTTP_KEEP_ALIVE",
    "HTTP_TE",
    "HTTP_TRAILER",
    "HTTP_TRANSFER_ENCODING",
    "HTTP_UPGRADE",
];

/// The settings with which the program's output is read: it begins with a header, whatever answers the request itself.
/// Output without a header must not pass for the status 200 of a page.
pub(super) fn place(of: &PlaceConfig) -> Rc<PlaceConfig> {
    Rc::new(PlaceConfig { send_header: true, handler: Some("fcgid-script".to_owned()), ..of.clone() })
}

/// Answers with the output of the program whose role `task` names. Returns OK, or the status of an error.
pub(super) fn respond(programs: &Programs, settings: &Settings, request: u64, begun: Instant, task: &[u8]) -> i32 {
    let mut parts = task.splitn(3, |byte| *byte == 0);
    let kind = parts.next().and_then(GuardKind::of_role);
    let program = kind.and_then(|kind| Some((kind, settings.fcgid.guards.program(kind)?)));
    let (Some((kind, file)), Some(manager)) = (program, &programs.manager) else {
        return failed(
            request,
            500,
            "no FastCGI program can decide about access: processes of FastCGI programs are off",
        );
    };
    let mut variables = variables(settings, request);
    variables.retain(|(name, _)| !NOT_FOR_GUARDS.iter().any(|known| known.as_bytes() == name));
    let mut set = |name: &str, value: &[u8]| {
        variables.retain(|(known, _)| known != name.as_bytes());
        variables.push((name.as_bytes().to_vec(), value.to_vec()));
    };
    set("FCGI_ROLE", b"AUTHORIZER");
    set("FCGI_APACHE_ROLE", kind.role().as_bytes());
    set("HTTP_CONNECTION", b"close");
    if let (GuardKind::Authenticator, Some(user), Some(password)) = (kind, parts.next(), parts.next()) {
        set("AUTH_TYPE", b"Basic");
        set("REMOTE_USER", user);
        set("REMOTE_PASSWD", password);
    }
    let server = programs.standing.iter().find(|it| it.server.file == file);
    let spec = match server {
        Some(server) => ProgramSpec::clone(&server.spec),
        None => spec::of_file(apache::requested(request).host, settings, file, &variables),
    };
    let sent = ProgramRequest { role: FastcgiRole::Authorizer, variables: &variables };
    let exchange = FcgidExchange { request, spec: &spec, sent, connect_wait: settings.fcgid.connect };
    ask(manager, &exchange, limits(settings, begun))
}
