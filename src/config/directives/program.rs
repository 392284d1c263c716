//! Programs of a CGI folder.

use super::super::program;
use super::{ANYWHERE, Effect, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "CgiMode",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Word("persistent|fork", program::mode),
        default: Some("persistent"),
        because: "most scripts run well in a process that stays, in a fraction of the time",
        effect: Effect::Reload,
        about: "How Perl scripts of a cgi-script place run. `fork`: each request in a child of the worker, which has the script compiled; every \
            global is as it was after compiling, and goes with the request. For scripts that count on a fresh process. Programs that are not \
            Perl always have a process of their own.",
    },
    Row {
        name: "RLimitCPU",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("seconds|max [seconds|max]", 1..=2, program::cpu),
        default: None,
        because: "the server's own limit holds; RequestTimeout ends what takes long",
        effect: Effect::Reload,
        about: "CPU time that a program which is not Perl, and each of its children, may use in a place of CGI scripts: the limit, and how far it \
            may raise it itself. For Perl see Apache::Resource.",
    },
    Row {
        name: "RLimitMEM",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("bytes|max [bytes|max]", 1..=2, program::memory),
        default: None,
        because: "the server's own limit holds",
        effect: Effect::Reload,
        about: "The same for its address space.",
    },
    Row {
        name: "RLimitNPROC",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("number|max [number|max]", 1..=2, program::processes),
        default: None,
        because: "the server's own limit holds",
        effect: Effect::Reload,
        about: "The same for the number of processes of its user, the server's own among them.",
    },
];
