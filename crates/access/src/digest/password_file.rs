//! Files of htdigest: lines `user:realm:hash`, where the hash is MD5 of `user:realm:password`.

use crate::files::{Contents, text};

/// Maximum number of lines.
const MAX_LINES: usize = 1 << 19;
/// Digits of an MD5 hash.
const HASH: usize = 32;

/// A password file for Digest authentication.
#[derive(Debug)]
pub struct DigestFile {
    text: String,
    /// Offsets of lines with two colons, sorted by user and realm, then by position.
    lines: Vec<u32>,
}

impl Contents for DigestFile {
    const MAX_BYTES: u64 = 16 << 20;

    fn of_bytes(bytes: Vec<u8>) -> Result<DigestFile, String> {
        text(bytes, Self::MAX_BYTES).and_then(DigestFile::parse)
    }

    fn size(&self) -> usize {
        self.text.capacity() + self.lines.capacity() * size_of::<u32>()
    }
}

impl DigestFile {
    pub fn parse(text: String) -> Result<DigestFile, String> {
        let start = |line: &str| (line.as_ptr().addr() - text.as_ptr().addr()) as u32;
        let usable = || text.lines().filter(|line| !line.starts_with('#') && entry(line).is_some());
        let count = usable().count();
        if count > MAX_LINES {
            return Err(format!("the file has more than {MAX_LINES} lines"));
        }
        let mut lines = Vec::with_capacity(count);
        lines.extend(usable().map(start));
        lines.sort_unstable_by_key(|from| (key_at(&text, *from), *from));
        Ok(DigestFile { lines, text })
    }

    /// The hash of a user in a realm: that of the first line.
    pub fn hash_of(&self, user: &str, realm: &str) -> Option<&str> {
        let key = Some((user, realm));
        let first = self.lines.partition_point(|from| key_at(&self.text, *from) < key);
        let line = line_at(&self.text, *self.lines.get(first)?)?;
        let (found, hash) = entry(line)?;
        (found == (user, realm)).then_some(hash)
    }
}

fn key_at(text: &str, from: u32) -> Option<(&str, &str)> {
    entry(line_at(text, from)?).map(|(key, _)| key)
}

fn line_at(text: &str, from: u32) -> Option<&str> {
    text.get(from as usize..)?.lines().next()
}

/// User, realm and hash of a line. Neither user nor realm can contain a colon.
fn entry(line: &str) -> Option<((&str, &str), &str)> {
    let mut parts = line.trim_end().splitn(3, ':');
    let (user, realm, rest) = (parts.next()?, parts.next()?, parts.next()?);
    Some(((user, realm), rest.get(..HASH)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_user_and_realm_counts() {
        let hash = |digit: &str| digit.repeat(HASH);
        let text = format!(
            "# c:d:{}\nben:r:{}\r\nann:s:{}\nann:r:{}\nann:r:{}\nbad:r\n:r:x\n",
            hash("0"),
            hash("1"),
            hash("2"),
            hash("3"),
            hash("4")
        );
        let file = DigestFile::parse(text).unwrap();
        assert_eq!(file.hash_of("ann", "r"), Some(&*hash("3")));
        assert_eq!(file.hash_of("ann", "s"), Some(&*hash("2")));
        assert_eq!(file.hash_of("ben", "r"), Some(&*hash("1")));
        for (user, realm) in [("ann", "t"), ("bad", "r"), ("", "r"), ("# c", "d"), ("ann:r", ""), ("z", "z")] {
            assert_eq!(file.hash_of(user, realm), None, "{user}");
        }
    }
}
