//! The part of the C ABI for subrequests, redirects and pushed handlers.

use std::ffi::c_int;

use super::{ApacheText, Out, XsText, give, status};
use crate::engine::{AddedLines, engine};
use crate::request_rec::handler_stacks::phase_of;
use crate::request_stack::{Stale, with, with_stack};

#[unsafe(no_mangle)]
extern "C" fn apache_linked(r: u64, which: u32, other: Out<'_, u64>) -> c_int {
    let linked = with_stack(|stack| {
        let links = stack.records[stack.at(r)?].links;
        let at = [links.main, links.prev, links.next].get(which as usize).copied().flatten();
        Ok(at.map_or(0, |at| stack.records[at].record_number))
    });
    give(other, linked)
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_current(r: u64) -> c_int {
    status(with(r, |_| ()).map(|()| crate::request_stack::run(r)))
}

/// The engine's status for the request; 500 without an engine.
fn status_of(r: u64, work: impl FnOnce(&dyn crate::Engine) -> i32) -> Result<i64, Stale> {
    with(r, |_| ()).map(|()| i64::from(engine(work).unwrap_or(500)))
}

/// The number of the record that `look_up` makes; 0 when it made none.
fn looked_up(r: u64, look_up: impl FnOnce(&dyn crate::Engine) -> Option<u64>) -> Result<u64, Stale> {
    with(r, |_| ())?;
    Ok(engine(look_up).flatten().unwrap_or(0))
}

#[unsafe(no_mangle)]
extern "C" fn apache_lookup_uri(r: u64, target: XsText<'_>, sub: Out<'_, u64>) -> c_int {
    let target = target.bytes().to_vec();
    give(sub, looked_up(r, |engine| engine.look_up_uri(r, &target)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_lookup_file(r: u64, name: XsText<'_>, sub: Out<'_, u64>) -> c_int {
    let name = name.bytes().to_vec();
    give(sub, looked_up(r, |engine| engine.look_up_file(r, &name)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_run_sub(r: u64, result: Out<'_, i64>) -> c_int {
    give(result, status_of(r, |engine| engine.run(r)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_translate_name(r: u64, result: Out<'_, i64>) -> c_int {
    give(result, status_of(r, |engine| engine.translate(r)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_internal_redirect(r: u64, target: XsText<'_>, keeps_type: c_int) -> c_int {
    let target = target.bytes().to_vec();
    status(with(r, |_| ()).map(|()| engine(|engine| engine.redirect(r, &target, keeps_type != 0))))
}

#[unsafe(no_mangle)]
extern "C" fn apache_run_hook(r: u64, hook: XsText<'_>, result: Out<'_, i64>) -> c_int {
    let hook = hook.bytes().to_vec();
    give(result, status_of(r, |engine| engine.run_hook(r, &hook)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_die(r: u64, code: i64) -> c_int {
    let code = i32::try_from(code).unwrap_or(500);
    status(with(r, |_| ()).map(|()| engine(|engine| engine.die(r, code))))
}

/// An undefined text removes the response.
#[unsafe(no_mangle)]
extern "C" fn apache_set_custom_response(r: u64, code: i64, response: XsText<'_>) -> c_int {
    let response = response.get().map(<[u8]>::to_vec);
    let code = u16::try_from(code).unwrap_or(500);
    status(with(r, |r| r.custom_responses.push((code, response))))
}

/// The response for a status that a handler has set, else the configured one.
#[unsafe(no_mangle)]
extern "C" fn apache_custom_response(r: u64, code: i64, response: Out<'_, ApacheText>) -> c_int {
    let code = u16::try_from(code).unwrap_or(500);
    let configured = engine(|engine| engine.error_response(r, code)).flatten();
    let text = with(r, |r| {
        r.shown_response = configured;
        ApacheText::of_option(r.shown_response.as_deref())
    });
    give(response, text)
}

#[unsafe(no_mangle)]
extern "C" fn apache_stack_touched(r: u64, phase: XsText<'_>, replaced: c_int, known: Out<'_, i64>) -> c_int {
    give(known, with(r, |r| i64::from(r.touch_stack(phase.bytes(), replaced != 0))))
}

#[unsafe(no_mangle)]
extern "C" fn apache_configured(r: u64, phase: XsText<'_>, at: usize, handler: Out<'_, ApacheText>) -> c_int {
    // The text outlives the borrow: the record holds the place.
    let name = with(r, |r| {
        let list = phase_of(&r.place, phase.bytes()).and_then(|number| r.place.phases.get(number));
        ApacheText::of_option(list.and_then(|(_, names)| names.get(at)).map(String::as_bytes))
    });
    give(handler, name)
}

/// Writes the reason why the engine failed, or undef if it succeeded.
fn explain<T>(r: u64, outcome: Option<Result<T, String>>, error: Out<'_, ApacheText>) -> c_int {
    let why = match outcome {
        Some(Ok(_)) => None,
        Some(Err(why)) => Some(why.into_bytes()),
        None => Some(b"only a worker process can change a request's configuration".to_vec()),
    };
    let text = with(r, |r| {
        r.shown_response = why;
        ApacheText::of_option(r.shown_response.as_deref())
    });
    give(error, text)
}

/// `apache_lines`
#[repr(C)]
struct ApacheLines<'a> {
    text: XsText<'a>,
    path: XsText<'a>,
    overrides: u32,
    options: u32,
}

#[unsafe(no_mangle)]
extern "C" fn apache_add_config(r: u64, lines: &ApacheLines<'_>, error: Out<'_, ApacheText>) -> c_int {
    let owned = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let &ApacheLines { text, path, overrides, options } = lines;
    let lines = AddedLines { text: owned(text.bytes()), overrides, options, path: path.get().map(owned) };
    explain(r, engine(|engine| engine.add_config(r, &lines)), error)
}

#[unsafe(no_mangle)]
extern "C" fn apache_merge_location(
    r: u64,
    path: XsText<'_>,
    is_there: Out<'_, i64>,
    error: Out<'_, ApacheText>,
) -> c_int {
    let path = String::from_utf8_lossy(path.bytes()).into_owned();
    let outcome = engine(|engine| engine.merge_location(r, &path));
    let found = matches!(outcome, Some(Ok(true)));
    explain(r, outcome, error) | give(is_there, Ok(i64::from(found)))
}
