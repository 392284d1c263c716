//! Home folders of the users in `/etc/passwd`, for `UserDir` with a folder below them.

use std::collections::{BTreeMap, HashSet};

/// Users whose folders are found by one template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeGroup {
    /// Names of the users, at most 200.
    pub names: Vec<String>,
    /// The users' folder: `$1` stands for the name, `$2` for the rest of the path.
    pub target: String,
}

/// Maximum number of names of a group, which becomes an expression.
const MAX_NAMES: usize = 200;

/// The groups of the users of `passwd` (passwd(5)), for `folder` below their homes. Of two lines for a name the first
/// counts, as for getpwnam.
pub fn groups(passwd: &str, folder: &str) -> Vec<HomeGroup> {
    let mut seen = HashSet::new();
    let mut by_target: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, home) in passwd.lines().filter_map(user) {
        if seen.insert(name) {
            by_target.entry(target(name, home, folder)).or_default().push(name.to_owned());
        }
    }
    let group = |target: &String, names: &[String]| HomeGroup { names: names.to_vec(), target: target.clone() };
    by_target.iter().flat_map(|(target, names)| names.chunks(MAX_NAMES).map(|names| group(target, names))).collect()
}

/// Name and home of a line.
fn user(line: &str) -> Option<(&str, &str)> {
    let fields: Vec<&str> = line.split(':').collect();
    let (name, home) = (*fields.first()?, *fields.get(5)?);
    let is_name = !name.is_empty() && !name.contains('/') && !matches!(name, "." | "..");
    (is_name && home.starts_with('/')).then_some((name, home.trim_end_matches('/')))
}

fn target(name: &str, home: &str, folder: &str) -> String {
    let literal = |text: &str| text.replace('$', "\\$");
    match home.strip_suffix(name).and_then(|above| above.strip_suffix('/')) {
        Some(above) => format!("{}/$1/{}$2", literal(above), literal(folder)),
        None => format!("{}/{}$2", literal(home), literal(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_with_homes_of_their_names_share_a_template() {
        let passwd = "ann:x:1000:1000:Ann:/home/ann:/bin/sh\nbob:x:1001:1001::/home/bob/:/bin/sh\n\
            web:x:33:33::/var/$www:/bin/sh\nann:x:0:0::/root:/bin/sh\n+::::::\nbroken\n..:x:1:1::/home/..:\nrelative:x:1:1::home:\n";
        let group = |names: &[&str], target: &str| HomeGroup {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            target: target.to_owned(),
        };
        assert_eq!(
            groups(passwd, "public_html"),
            [group(&["ann", "bob"], "/home/$1/public_html$2"), group(&["web"], "/var/\\$www/public_html$2")]
        );
    }

    #[test]
    fn many_users_are_several_groups() {
        let passwd: String = (0..1000).map(|n| format!("u{n}:x:{n}:{n}::/home/u{n}:\n")).collect();
        let groups = groups(&passwd, "www");
        assert_eq!(groups.len(), 5);
        assert!(groups.iter().all(|group| group.names.len() == MAX_NAMES));
    }
}
