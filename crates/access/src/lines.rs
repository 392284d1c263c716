//! Parser of password and group files: lines `name: value`. Comments and lines without a colon are ignored. Users are
//! indexed, so that a lookup does not scan all lines.

use super::files::{Contents, text};

/// A `.htpasswd` file: users and their password hashes.
#[derive(Debug)]
pub struct PasswordFile {
    text: String,
    /// Lines with a colon, sorted by name, then by position.
    lines: Vec<UserLine>,
}

#[derive(Debug, Clone, Copy)]
struct UserLine {
    /// Offset in the text.
    from: u32,
    /// Line number from 1.
    number: u32,
}

/// Password hash of a user.
#[derive(Debug, PartialEq, Eq)]
pub struct UserHash<'a> {
    /// Hash as written.
    pub text: &'a str,
    /// Line number from 1.
    pub line: u32,
}

/// Maximum number of lines with a colon. The shortest line with a hash has 16 bytes.
const MAX_LINES: usize = 1 << 20;

/// A group file: groups and their users.
#[derive(Debug)]
pub struct GroupFile {
    text: String,
    /// Offsets of group names in the text: start, and colon.
    groups: Vec<(u32, u32)>,
    /// Offset of each member's name, and index of its group; sorted by name.
    members: Vec<(u32, u32)>,
}

impl Contents for PasswordFile {
    const MAX_BYTES: u64 = 16 << 20;

    fn of_bytes(bytes: Vec<u8>) -> Result<PasswordFile, String> {
        text(bytes, Self::MAX_BYTES).and_then(PasswordFile::parse)
    }

    fn size(&self) -> usize {
        self.text.capacity() + self.lines.capacity() * size_of::<UserLine>()
    }
}

impl PasswordFile {
    pub fn parse(text: String) -> Result<PasswordFile, String> {
        let mut lines = Vec::with_capacity(few(pairs(&text).count(), "lines")?);
        lines.extend(pairs(&text).map(|pair| UserLine { from: pair.from, number: pair.number }));
        lines.sort_unstable_by_key(|line| (line.name(&text), line.from));
        Ok(PasswordFile { lines, text })
    }

    /// The hash of a user: the text up to the next colon of the user's first line.
    pub fn hash_of(&self, user: &str) -> Option<UserHash<'_>> {
        let first = self.lines.partition_point(|line| line.name(&self.text) < user);
        let line = self.lines.get(first).filter(|line| line.name(&self.text) == user)?;
        let (_, value) = self.text.get(line.from as usize..)?.split_once(':')?;
        let value = value.lines().next().unwrap_or_default().trim();
        Some(UserHash { text: value.split(':').next()?, line: line.number })
    }
}

impl UserLine {
    /// The text before the colon.
    fn name(self, text: &str) -> &str {
        text.get(self.from as usize..).and_then(|line| line.split(':').next()).unwrap_or_default().trim()
    }
}

/// Checks that a count is within the limit.
fn few(count: usize, what: &str) -> Result<usize, String> {
    if count <= MAX_LINES { Ok(count) } else { Err(format!("the file has more than {MAX_LINES} {what}")) }
}

impl Contents for GroupFile {
    const MAX_BYTES: u64 = 4 << 20;

    fn of_bytes(bytes: Vec<u8>) -> Result<GroupFile, String> {
        text(bytes, Self::MAX_BYTES).and_then(GroupFile::parse)
    }

    fn size(&self) -> usize {
        self.text.capacity() + (self.groups.capacity() + self.members.capacity()) * size_of::<(u32, u32)>()
    }
}

impl GroupFile {
    pub fn parse(text: String) -> Result<GroupFile, String> {
        let mut groups = Vec::with_capacity(few(pairs(&text).count(), "lines")?);
        groups.extend(pairs(&text).map(|pair| (pair.from, pair.colon)));
        let names = |colon: u32| {
            let rest = text.get(colon as usize + 1..).unwrap_or_default();
            rest.lines().next().unwrap_or_default().split_whitespace()
        };
        let place = |word: &str| word.as_ptr().addr() - text.as_ptr().addr();
        let all = groups.iter().map(|(_, colon)| names(*colon).count()).sum();
        let mut members = Vec::with_capacity(few(all, "members of groups")?);
        for (number, (_, colon)) in groups.iter().enumerate() {
            members.extend(names(*colon).map(|word| (place(word) as u32, number as u32)));
        }
        members.sort_unstable_by_key(|(from, group)| (word(&text, *from), *group));
        members.dedup_by_key(|(from, group)| (word(&text, *from), *group));
        Ok(GroupFile { groups, members, text })
    }

    pub fn of(&self, user: &str) -> impl Iterator<Item = &str> {
        let first = self.members.partition_point(|(from, _)| word(&self.text, *from) < user);
        let members = self.members.iter().skip(first);
        let of_user = members.take_while(move |(from, _)| word(&self.text, *from) == user);
        of_user.filter_map(|(_, group)| self.groups.get(*group as usize)).map(|(from, to)| name(&self.text, *from, *to))
    }
}

/// A line with a colon: offset of the line and of the colon, and line number from 1. Files are smaller than 4 GB.
struct Pair {
    from: u32,
    colon: u32,
    number: u32,
}

fn pairs(text: &str) -> impl Iterator<Item = Pair> {
    let mut next = 0;
    text.split_inclusive('\n').zip(1..).filter_map(move |(line, number)| {
        let from = next;
        next += line.len();
        let colon = line.find(':')?;
        let pair = Pair { from: from as u32, colon: (from + colon) as u32, number };
        (!line.trim_start().starts_with('#')).then_some(pair)
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
    fn lines_are_parsed_as_in_httpd() {
        let passwords = |text: &str| PasswordFile::parse(text.to_owned()).expect("few lines");
        let of = |text: &str, user: &str| passwords(text).hash_of(user).map(|hash| (hash.text.to_owned(), hash.line));
        let hash = |text: &str, line: u32| Some((text.to_owned(), line));
        assert_eq!(of(TEXT, "ana"), hash("$1$a$b", 2));
        assert_eq!((of(TEXT, "eve"), of(TEXT, "nonsense")), (None, None));
        assert_eq!(of(TEXT, "staff"), hash("ana  ben", 6));
        assert_eq!(of("a:b", "a"), hash("b", 1), "without an end of line");
        assert_eq!(of("a:\nb", "a"), hash("", 1), "nothing");
        let groups = GroupFile::parse(TEXT.to_owned()).expect("few lines");
        assert_eq!(groups.of("ana").collect::<Vec<_>>(), ["staff", "all"]);
        assert_eq!(groups.of("ben").collect::<Vec<_>>(), ["staff"]);
        assert_eq!((groups.of("an").count(), groups.of("").count()), (0, 0));
    }

    #[test]
    fn each_of_many_users_is_found() {
        let users: Vec<String> = (0..1000).map(|n| format!("user{n}")).collect();
        let text: String = users.iter().map(|user| format!("{user}:hash of {user}\n")).collect();
        let passwords = PasswordFile::parse(text).expect("few lines");
        let groups = GroupFile::parse(format!("all: {}\n", users.join(" "))).expect("few members");
        for user in &users {
            assert_eq!(passwords.hash_of(user).map(|hash| hash.text), Some(&*format!("hash of {user}")));
            assert_eq!(groups.of(user).collect::<Vec<_>>(), ["all"]);
        }
    }

    #[test]
    fn a_file_with_too_many_lines_or_members_is_refused() {
        let lines = "a:\n".repeat(MAX_LINES + 1);
        let members = format!("all:{}", " a".repeat(MAX_LINES + 1));
        assert_eq!(PasswordFile::parse(lines).map(|_| ()), Err("the file has more than 1048576 lines".to_owned()));
        assert_eq!(
            GroupFile::parse(members).map(|_| ()),
            Err("the file has more than 1048576 members of groups".to_owned())
        );
    }
}
