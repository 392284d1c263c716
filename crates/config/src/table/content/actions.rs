//! Scripts that handle requests for files of a type, or of a method.

use crate::draft::Draft;
use crate::model::response::actions::ScriptAction;
use crate::table::row::{ANYWHERE, FILE_INFO, Row, rows, words};

pub static ROWS: &[Row] = rows![
    "mod_actions.c",
    words("Action", FILE_INFO, "handler|type /script [virtual]", 2..=3, action).because("files are sent unchanged"),
    "A script that handles files with a handler name or a media type: its PATH_INFO is their path, its \
     REDIRECT_HANDLER the name. With `virtual` the file need not exist.",
    words("Script", ANYWHERE, "method /script", 2..=2, script).because("files support GET, HEAD and OPTIONS"),
    "A script that handles requests of this method that no program handles; for GET only if the request has a query. Methods have \
     upper and lower case.",
];

/// `Action name script [virtual]`
fn action(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, script, rest @ ..] = args else { return Ok(()) };
    let is_virtual = match rest {
        [] => false,
        [word] if word.eq_ignore_ascii_case("virtual") => true,
        _ => return Err(format!("expected `virtual` after the script, got \"{}\"", rest.join(" "))),
    };
    mention_path(draft, script);
    draft.settings().response.actions.add(ScriptAction { name: name.clone(), script: script.clone(), is_virtual });
    Ok(())
}

/// `Script method script`
fn script(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [method, script] = args else { return Ok(()) };
    if method.bytes().any(|byte| !byte.is_ascii_alphabetic()) {
        return Err(format!("expected a method like GET or PUT, got \"{method}\""));
    }
    mention_path(draft, script);
    draft.settings().response.actions.add_method(method, script);
    Ok(())
}

fn mention_path(draft: &mut Draft, script: &str) {
    if !script.starts_with('/') {
        draft.warn(&format!("\"{script}\" is no URL path, and requests for it fail; begin it with /"));
    }
}
