//! What perl itself is started with, and switches of mod_perl 1 that the server has no use for.

use crate::config::table::row::{ANYWHERE, Effect, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "PerlTaintCheck",
        contexts: SERVER,
        takes: Takes::Flag(|d, on| d.config.perl.taint_check = on),
        default: Some("Off"),
        because: "perl's own",
        effect: Effect::Generation,
        about: "Perl's -T: what clients send may not reach a shell, a file's name or %ENV of programs before it was matched.",
        ..ROW
    },
    Row {
        name: "PerlWarn",
        contexts: SERVER,
        takes: Takes::Flag(|d, on| d.config.perl.warn = on),
        default: Some("Off"),
        because: "perl's own",
        effect: Effect::Generation,
        about: "Perl's -w: warnings in all code that does not say otherwise, in the error log.",
        ..ROW
    },
    Row {
        name: "PerlFreshRestart",
        contexts: SERVER,
        takes: Takes::Flag(|_, _| {}),
        default: Some("On"),
        because: "a reload starts perl anew in any case",
        effect: Effect::Start,
        about: "Accepted and ignored: every reload loads all code afresh, in new processes.",
        ..ROW
    },
    Row {
        name: "PerlOpmask",
        contexts: ANYWHERE,
        takes: Takes::Words("file", 1..=1, |_, _| {
            Err("perl cannot be confined by a mask of operators, which was never safe: run what you do not trust as a user \
                of its own, in a server of its own, and remove this line"
                .to_owned())
        }),
        because: "not offered",
        effect: Effect::Start,
        about: "Refused with an explanation: perl's operator masks do not confine hostile code.",
        ..ROW
    },
];
