//! `UserDir`: the folders of users.

use crate::draft::Draft;
use crate::model::host::{Alias, AliasFrom};
use crate::model::response::lookup::user_dir::{UserFolder, UserFolders};
use crate::table::row::{HOSTS, MANY, Row, rows, words};

pub static ROWS: &[Row] = rows![
    "mod_userdir.c",
    words("UserDir", HOSTS, "folder|path|URL …|disabled [name…]|enabled name…", 1..=MANY, user_dir)
        .because("no user's folder is public by default"),
    "The folder of `/~name/…`: the name of a folder in each user's home, or a path in which `*` stands for the user, \
     `/home/*/public_html`, or a path with a folder for each user. A URL with `*` redirects there. Of several, the \
     first folder that exists is used, or else the last. `disabled` and `enabled` choose users.",
];

/// `UserDir folder|path|URL …`, `UserDir disabled [name…]`, `UserDir enabled name…`
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
    }
    Ok(())
}

/// Adds the users' folder to the aliases of each host, behind all others. Of several folders, each request chooses.
pub fn finish(draft: &mut Draft) {
    for index in 0..draft.config.hosts.len() {
        let Some(dirs) = draft.config.hosts.get(index).map(|host| &host.user_dir) else { continue };
        let (Some(folders), Some(pattern)) = (dirs.folders.clone(), dirs.pattern()) else { continue };
        let single = dirs.single();
        let Ok(pattern) = draft.pattern(&pattern) else { continue };
        let Some(host) = draft.config.hosts.get_mut(index) else { continue };
        match single {
            None => host.user_folders = Some(UserFolders { pattern, folders }),
            Some(to) => host.aliases.push(Alias { from: AliasFrom::Match(pattern), to: to.into(), script: false }),
        }
    }
}
