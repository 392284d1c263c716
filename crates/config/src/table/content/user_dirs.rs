//! `UserDir`: the folders of users.

use std::path::Path;

use base::path::stays_below;

use crate::draft::Draft;
use crate::model::host::{Alias, AliasFrom};
use crate::model::response::lookup::homes::{self, HomeGroup};
use crate::model::response::lookup::user_dir::UserDir;
use crate::model::response::redirect::{Redirect, RedirectFrom};
use crate::table::row::{HOSTS, MANY, Row, rows, words};

pub static ROWS: &[Row] = rows![
    "mod_userdir.c",
    words("UserDir", HOSTS, "folder|path|URL …|disabled [name…]|enabled name…", 1..=MANY, user_dir)
        .because("no user's folder is public by default"),
    "The folder of `/~name/…`: a name below the user's home, `public_html`; a path in which `*` stands for the name, \
     `/home/*/public_html`; or a folder with one for each name. A URL with `*` redirects there. `disabled` and `enabled` \
     choose users. Homes are those of /etc/passwd at the start or the last reload.",
];

const PASSWD: &str = "/etc/passwd";

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
        _ => {
            let folders: Result<Vec<_>, _> = args.iter().map(|text| UserFolder::parse(text)).collect();
            draft.host().user_dir.folders = Some(folders?);
        }
        (_, []) if first.contains("://") || Path::new(first).is_absolute() => {
            let user_dir = &mut draft.host().user_dir;
            (user_dir.to, user_dir.homes) = (Some(first.clone()), Some(None));
        }
        (_, []) if first.contains('*') || !stays_below(first) => {
            return Err(format!("expected a folder below the users' homes, or a whole path, got \"{first}\""));
        }
        (_, []) => {
            let passwd = std::fs::read_to_string(PASSWD).map_err(|error| format!("{PASSWD}: {error}"))?;
            let user_dir = &mut draft.host().user_dir;
            (user_dir.to, user_dir.homes) = (Some(first.clone()), Some(Some(homes::groups(&passwd, first))));
        }
        _ => return Err("several folders are not supported: write one, with * for the name".to_owned()),
    }
    Ok(())
}

/// Adds the users' folder to the aliases of each host, behind all others. Of several folders, each request chooses.
pub fn finish(draft: &mut Draft) {
    for index in 0..draft.config.hosts.len() {
        let Some(host) = draft.config.hosts.get(index) else { continue };
        let is_redirect = host.user_dir.is_redirect();
        for (pattern, target) in folders(&host.user_dir) {
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
}

/// Expressions for paths, and the files or addresses that they lead to.
fn folders(user_dir: &UserDir) -> Vec<(String, String)> {
    let of_group = |group: &HomeGroup| Some((user_dir.pattern_among(&group.names)?, group.target.clone()));
    match user_dir.homes.as_ref().and_then(Option::as_ref) {
        Some(groups) => groups.iter().filter_map(of_group).collect(),
        None => user_dir.pattern().zip(user_dir.target()).into_iter().collect(),
    }
}
