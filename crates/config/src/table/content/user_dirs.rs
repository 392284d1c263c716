//! `UserDir`: the folders of users.

use std::path::Path;

use crate::draft::Draft;
use crate::model::host::{Alias, AliasFrom};
use crate::model::response::redirect::{Redirect, RedirectFrom};
use crate::table::row::{HOSTS, MANY, Row, rows, words};

pub static ROWS: &[Row] = rows![
    "mod_userdir.c",
    words("UserDir", HOSTS, "path|URL|disabled [name…]|enabled name…", 1..=MANY, user_dir)
        .because("no user's folder is public by default"),
    "The folder of `/~name/…`: a path in which `*` stands for the name, `/home/*/public_html`, or a folder with one for \
     each name. A URL with `*` redirects there. `disabled` and `enabled` choose users. Home folders are not looked up.",
];

/// `UserDir path|URL`, `UserDir disabled [name…]`, `UserDir enabled name…`
fn user_dir(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((first, names)) = args.split_first() else { return Ok(()) };
    match (first.to_ascii_lowercase().as_str(), names) {
        ("disabled", []) => draft.host().user_dir.disabled = Some(true),
        ("disabled", names) => draft.host().user_dir.refused.get_or_insert_default().extend_from_slice(names),
        ("enabled", []) => {
            return Err("expected names of users after enabled, as in `UserDir enabled alice bob`".to_owned());
        }
        ("enabled", names) => draft.host().user_dir.enabled.get_or_insert_default().extend_from_slice(names),
        (_, []) if first.contains('$') || first.matches('*').count() > 1 => {
            return Err(format!("expected a path with at most one * and without $, got \"{first}\""));
        }
        (_, []) if first.contains("://") || Path::new(first).is_absolute() => {
            draft.host().user_dir.to = Some(first.clone());
        }
        (_, []) => {
            return Err(format!("home folders are not looked up; write a path, for instance /home/*/{first}"));
        }
        _ => return Err("several folders are not supported; write one, with * for the name".to_owned()),
    }
    Ok(())
}

/// Adds the users' folders to the aliases of each host, behind all others, and redirects to its redirects.
pub fn finish(draft: &mut Draft) {
    for index in 0..draft.config.hosts.len() {
        let Some(host) = draft.config.hosts.get(index) else { continue };
        let (Some(pattern), Some(target)) = (host.user_dir.pattern(), host.user_dir.target()) else { continue };
        let is_redirect = host.user_dir.is_redirect();
        let Ok(pattern) = draft.pattern(&pattern) else { continue };
        let Some(host) = draft.config.hosts.get_mut(index) else { continue };
        match is_redirect {
            true => {
                let from = RedirectFrom::Match(pattern);
                host.redirects.push(Redirect { from, to: Some(target), expr: None, status: 302 });
            }
            false => host.aliases.push(Alias { from: AliasFrom::Match(pattern), to: target.into(), script: false }),
        }
    }
}
