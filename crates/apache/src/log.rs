//! Messages for the error log: their destination, their level, and the request that they are about.

use std::cell::{Cell, RefCell};

use base::log::{ContextPosition, LogLevel as Level};

type Sink = fn(Level, ContextPosition, &[u8]);

thread_local!(static SINK: Cell<Sink> = const { Cell::new(to_stderr) });

fn to_stderr(level: Level, _: ContextPosition, text: &[u8]) {
    eprintln!("[{}] {}", level.name(), String::from_utf8_lossy(text));
}

/// Sets the destination of messages: `sink` gets them without time, prefix or line end. It must not call back
/// into this crate.
pub fn log_to(sink: Sink) {
    SINK.set(sink);
}

thread_local! {
    static LEVEL: Cell<Option<Level>> = const { Cell::new(None) };
    static ON_LEVEL: Cell<fn(Level)> = const { Cell::new(|_| ()) };
}

/// Sets the function that is called when a program changes this process' LogLevel (`$s->loglevel`).
pub fn on_level(changed: fn(Level)) {
    ON_LEVEL.set(changed);
}

pub(crate) fn set_level(level: Level) {
    LEVEL.set(Some(level));
    ON_LEVEL.get()(level);
}

/// The LogLevel that a program has set.
pub(crate) fn own_level() -> Option<Level> {
    LEVEL.get()
}

/// Logs a message of the server about the current request.
pub fn log_line(level: Level, text: &str) {
    log(level, text.as_bytes());
}

thread_local!(static UNFINISHED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });

/// Longest buffered line, in bytes; a longer one is written in parts.
const MAX_BYTES: usize = 8 * 1024;

/// Buffers a program's output on STDERR, or on STDOUT outside of requests, until a line is complete: programs print
/// lines in pieces.
pub(crate) fn print(bytes: &[u8]) {
    UNFINISHED.with_borrow_mut(|unfinished| {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n').flat_map(|line| line.chunks(MAX_BYTES)) {
            unfinished.extend_from_slice(piece);
            if piece.ends_with(b"\n") || unfinished.len() >= MAX_BYTES {
                log(Level::Error, unfinished);
                unfinished.clear();
            }
        }
    });
}

/// Logs the standard error output of an external program.
pub fn log_output(bytes: &[u8]) {
    print(bytes);
}

/// Logs the unfinished line: the program will not finish it.
pub(crate) fn end_line() {
    let rest = UNFINISHED.take();
    if !rest.is_empty() {
        log(Level::Error, &rest);
    }
}

pub(crate) fn log(level: Level, text: &[u8]) {
    log_in(level, ContextPosition::default(), text);
}

pub(crate) fn log_in(level: Level, context: ContextPosition, text: &[u8]) {
    SINK.get()(level, context, text.trim_ascii_end());
}
