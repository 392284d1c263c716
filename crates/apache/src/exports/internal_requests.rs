//! The part of the C ABI for subrequests, redirects and pushed handlers.

use std::ffi::c_int;

use super::{ApacheText, OK, STALE, give, status};
use crate::engine::{AddedLines, engine};
use crate::request_rec::handler_stacks::phase_of;
use crate::request_stack::{Stale, with, with_stack};

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_linked(r: u64, which: u32, other: *mut u64) -> c_int {
    let linked = with_stack(|stack| {
        let links = stack.records[stack.at(r)?].links;
        let at = [links.main, links.prev, links.next].get(which as usize).copied().flatten();
        Ok(at.map_or(0, |at| stack.records[at].generation))
    });
    // SAFETY: XS passes a variable of its own.
    unsafe { give(other, linked) }
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_current(r: u64) -> c_int {
    status(with(r, |_| ()).map(|()| crate::request_stack::run(r)))
}

/// The number of the record that `look_up` makes; 0: it made none.
fn looked_up(r: u64, look_up: impl FnOnce(&dyn crate::Engine) -> Option<u64>) -> Result<u64, Stale> {
    with(r, |_| ())?;
    Ok(engine(look_up).flatten().unwrap_or(0))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_lookup_uri(r: u64, target: ApacheText, sub: *mut u64) -> c_int {
    // SAFETY: XS passes a string that lives until it is copied here, and a variable of its own.
    unsafe {
        let target = target.get().unwrap_or_default().to_vec();
        give(sub, looked_up(r, |engine| engine.look_up_uri(r, &target)))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_lookup_file(r: u64, name: ApacheText, sub: *mut u64) -> c_int {
    // SAFETY: as above.
    unsafe {
        let name = name.get().unwrap_or_default().to_vec();
        give(sub, looked_up(r, |engine| engine.look_up_file(r, &name)))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_run_sub(r: u64, result: *mut i64) -> c_int {
    let run = with(r, |_| ()).map(|()| i64::from(engine(|engine| engine.run(r)).unwrap_or(500)));
    // SAFETY: XS passes a variable of its own.
    unsafe { give(result, run) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_translate_name(r: u64, result: *mut i64) -> c_int {
    let translated = with(r, |_| ()).map(|()| i64::from(engine(|engine| engine.translate(r)).unwrap_or(500)));
    // SAFETY: XS passes a variable of its own.
    unsafe { give(result, translated) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_internal_redirect(r: u64, target: ApacheText, keeps_type: c_int) -> c_int {
    // SAFETY: XS passes a string that lives until it is copied here.
    let target = unsafe { target.get() }.unwrap_or_default().to_vec();
    status(with(r, |_| ()).map(|()| engine(|engine| engine.redirect(r, &target, keeps_type != 0))))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_run_hook(r: u64, hook: ApacheText, result: *mut i64) -> c_int {
    // SAFETY: XS passes a string that lives until it is copied here, and a variable of its own.
    unsafe {
        let hook = hook.get().unwrap_or_default().to_vec();
        let ran = with(r, |_| ()).map(|()| i64::from(engine(|engine| engine.run_hook(r, &hook)).unwrap_or(500)));
        give(result, ran)
    }
}

#[unsafe(no_mangle)]
extern "C" fn apache_die(r: u64, code: i64) -> c_int {
    let code = i32::try_from(code).unwrap_or(500);
    status(with(r, |_| ()).map(|()| engine(|engine| engine.die(r, code))))
}

/// An undefined text removes the response.
#[unsafe(no_mangle)]
unsafe extern "C" fn apache_set_custom_response(r: u64, code: i64, response: ApacheText) -> c_int {
    // SAFETY: XS passes a string that lives during the call.
    let response = unsafe { response.get() }.map(<[u8]>::to_vec);
    let code = u16::try_from(code).unwrap_or(500);
    status(with(r, |r| r.custom_responses.push((code, response))))
}

/// The response for a status that a handler has set, else the configured one.
#[unsafe(no_mangle)]
unsafe extern "C" fn apache_custom_response(r: u64, code: i64, response: *mut ApacheText) -> c_int {
    let code = u16::try_from(code).unwrap_or(500);
    let configured = engine(|engine| engine.error_response(r, code)).flatten();
    let text = with(r, |r| {
        r.shown_response = configured;
        ApacheText::of_option(r.shown_response.as_deref())
    });
    // SAFETY: XS passes a variable of its own, and copies the text at once.
    unsafe { give(response, text) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_stack_touched(r: u64, phase: ApacheText, replaced: c_int, known: *mut i64) -> c_int {
    // SAFETY: XS passes a string that lives during the call, and a variable of its own.
    unsafe {
        let phase = phase.get().unwrap_or_default();
        give(known, with(r, |r| i64::from(r.touch_stack(phase, replaced != 0))))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_configured(r: u64, phase: ApacheText, at: usize, handler: *mut ApacheText) -> c_int {
    // SAFETY: XS passes a string that lives during the call, and a variable of its own. The text outlives the borrow:
    // the record holds the place.
    unsafe {
        let phase = phase.get().unwrap_or_default();
        let name = with(r, |r| {
            let list = phase_of(&r.place, phase).and_then(|number| r.place.phases.get(number));
            ApacheText::of_option(list.and_then(|(_, names)| names.get(at)).map(String::as_bytes))
        });
        match name {
            Ok(name) => {
                handler.write(name);
                OK
            }
            Err(Stale) => STALE,
        }
    }
}

/// Writes the reason why the engine failed, or undef if it succeeded.
fn explain<T>(r: u64, said: Option<Result<T, String>>, error: *mut ApacheText) -> c_int {
    let why = match said {
        Some(Ok(_)) => None,
        Some(Err(why)) => Some(why.into_bytes()),
        None => Some(b"only a worker process can change a request's configuration".to_vec()),
    };
    let text = with(r, |r| {
        r.shown_response = why;
        ApacheText::of_option(r.shown_response.as_deref())
    });
    // SAFETY: XS passes a variable of its own, and copies the text at once.
    unsafe { give(error, text) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_add_config(
    r: u64,
    text: ApacheText,
    overrides: u32,
    options: u32,
    path: ApacheText,
    error: *mut ApacheText,
) -> c_int {
    // SAFETY: XS passes strings that live until they are copied here.
    let (text, path) = unsafe { (text.get().unwrap_or_default(), path.get()) };
    let owned = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = AddedLines { text: owned(text), overrides, options, path: path.map(owned) };
    explain(r, engine(|engine| engine.add_config(r, &lines)), error)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn apache_merge_location(
    r: u64,
    path: ApacheText,
    is_there: *mut i64,
    error: *mut ApacheText,
) -> c_int {
    // SAFETY: XS passes a string that lives until it is copied here.
    let path = String::from_utf8_lossy(unsafe { path.get() }.unwrap_or_default()).into_owned();
    let said = engine(|engine| engine.merge_location(r, &path));
    let found = matches!(said, Some(Ok(true)));
    // SAFETY: XS passes a variable of its own.
    explain(r, said, error) | unsafe { give(is_there, Ok(i64::from(found))) }
}
