//! What password and group files say: lines `name: value`. Comments and what has no colon are left out. A user is found
//! without a walk through all lines.

use super::files::Contents;

/// A `.htpasswd` file: users and the hashes of their passwords.
#[derive(Debug)]
pub struct Passwords {
    text: String,
    /// Of each line with a colon its beginning and that of what follows the colon; by name, the first of a name first.
    lines: Vec<(u32, u32)>,
}

/// A group file: groups and their users.
#[derive(Debug)]
pub struct Groups {
    text: String,
    /// Names of groups, by their places in the text.
    groups: Vec<(u32, u32)>,
    /// Where each member's name begins, and the number of its group; by name.
    members: Vec<(u32, u32)>,
}

impl Contents for Passwords {
    const LONGEST: u64 = 16 << 20;

    fn parse(text: String) -> Passwords {
        let mut lines: Vec<(u32, u32)> = pairs(&text).collect();
        lines.sort_by_key(|(from, colon)| (name(&text, *from, *colon), *from));
        Passwords { lines, text }
    }

    fn size(&self) -> usize {
        self.text.capacity() + self.lines.capacity() * size_of::<(u32, u32)>()
    }
}

impl Passwords {
    /// The hash of a user: what stands before the next colon of its first line.
    pub fn hash_of(&self, user: &str) -> Option<&str> {
        let first = self.lines.partition_point(|(from, colon)| name(&self.text, *from, *colon) < user);
        let (from, colon) = self.lines.get(first).filter(|(from, colon)| name(&self.text, *from, *colon) == user)?;
        debug_assert!(from <= colon);
        let value = self.text.get(*colon as usize + 1..)?.lines().next()?.trim();
        value.split(':').next()
    }
}

impl Contents for Groups {
    const LONGEST: u64 = 4 << 20;

    fn parse(text: String) -> Groups {
        let groups: Vec<(u32, u32)> = pairs(&text).collect();
        let mut members = Vec::new();
        for (number, (_, colon)) in groups.iter().enumerate() {
            let line = text.get(*colon as usize + 1..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            let place = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
            members.extend(line.split_whitespace().map(|word| (place(word) as u32, number as u32)));
        }
        members.sort_by_key(|(from, group)| (word(&text, *from), *group));
        members.dedup_by_key(|(from, group)| (word(&text, *from), *group));
        Groups { groups, members, text }
    }

    fn size(&self) -> usize {
        self.text.capacity() + (self.groups.capacity() + self.members.capacity()) * size_of::<(u32, u32)>()
    }
}

impl Groups {
    /// The groups that a user stands in.
    pub fn of(&self, user: &str) -> impl Iterator<Item = &str> {
        let first = self.members.partition_point(|(from, _)| word(&self.text, *from) < user);
        let members = self.members.iter().skip(first);
        let of_user = members.take_while(move |(from, _)| word(&self.text, *from) == user);
        of_user.filter_map(|(_, group)| self.groups.get(*group as usize)).map(|(from, to)| name(&self.text, *from, *to))
    }
}

/// Beginning and colon of each line that has one; a text is never longer than a number of 32 bits says.
fn pairs(text: &str) -> impl Iterator<Item = (u32, u32)> {
    let mut next = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let from = next;
        next += line.len();
        let colon = line.find(':')?;
        (!line.trim_start().starts_with('#')).then_some((from as u32, (from + colon) as u32))
    })
}

fn name(text: &str, from: u32, to: u32) -> &str {
    text.get(from as usize..to as usize).unwrap_or_default().trim()
}

fn word(text: &str, from: u32) -> &str {
    text.get(from as usize..).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# staff: eve\nana:$1$a$b:Ana Lopez\n\nnonsense\nana:other\n staff : ana  ben\r\nall: ana ana\n";

    #[test]
    fn lines_are_read_as_httpd_reads_them() {
        let passwords = Passwords::parse(TEXT.to_owned());
        assert_eq!(passwords.hash_of("ana"), Some("$1$a$b"));
        assert_eq!((passwords.hash_of("eve"), passwords.hash_of("nonsense")), (None, None));
        assert_eq!(passwords.hash_of("staff"), Some("ana  ben"));
        assert_eq!(Passwords::parse("a:b".to_owned()).hash_of("a"), Some("b"), "without an end of line");
        assert_eq!(Passwords::parse("a:\nb".to_owned()).hash_of("a"), Some(""), "nothing");
        let groups = Groups::parse(TEXT.to_owned());
        assert_eq!(groups.of("ana").collect::<Vec<_>>(), ["staff", "all"]);
        assert_eq!(groups.of("ben").collect::<Vec<_>>(), ["staff"]);
        assert_eq!((groups.of("an").count(), groups.of("").count()), (0, 0));
    }

    #[test]
    fn every_user_of_many_is_found() {
        let users: Vec<String> = (0..1000).map(|n| format!("user{n}")).collect();
        let text: String = users.iter().map(|user| format!("{user}:hash of {user}\n")).collect();
        let passwords = Passwords::parse(text);
        let groups = Groups::parse(format!("all: {}\n", users.join(" ")));
        for user in &users {
            assert_eq!(passwords.hash_of(user), Some(&*format!("hash of {user}")));
            assert_eq!(groups.of(user).collect::<Vec<_>>(), ["all"]);
        }
    }
}
