//! What the hash of a password may cost.

use crate::syntax::value;

/// `LimitPasswordHash`. Whoever writes a password file chooses the cost of its hashes, and whoever guesses has them computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashLimits {
    /// The largest cost of bcrypt, which doubles the time with each step.
    pub bcrypt: u8,
    /// The most rounds of the SHA crypts.
    pub rounds: u64,
    /// The most memory of scrypt and yescrypt, in bytes. Their time grows with it.
    pub memory: u64,
}

/// As much of each as takes about a second.
pub const DEFAULT: HashLimits = HashLimits { bcrypt: 14, rounds: 1_000_000, memory: 32 << 20 };

impl Default for HashLimits {
    fn default() -> HashLimits {
        DEFAULT
    }
}

impl HashLimits {
    /// What `bcrypt=12`, `rounds=500000` or `memory=64M` changes.
    pub fn set(&mut self, word: &str) -> Result<(), String> {
        let expected = |what: &str| format!("expected {what}, got \"{word}\"");
        match word.split_once('=') {
            Some(("bcrypt", cost)) => {
                let cost = cost.parse().ok().filter(|cost| (4..=31).contains(cost));
                self.bcrypt = cost.ok_or_else(|| expected("bcrypt= with a cost from 4 to 31"))?;
            }
            Some(("rounds", rounds)) => {
                let rounds = rounds.parse().ok().filter(|rounds| (1000..=999_999_999).contains(rounds));
                self.rounds = rounds.ok_or_else(|| expected("rounds= with a number from 1000 to 999999999"))?;
            }
            Some(("memory", size)) => {
                let size = value::size(size).ok().filter(|size| (1 << 20..=1 << 32).contains(size));
                self.memory = size.ok_or_else(|| expected("memory= with a size from 1M to 4G"))?;
            }
            _ => return Err(expected("bcrypt=, rounds= or memory=")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_changes_one_limit_and_nonsense_changes_none() {
        let mut limits = DEFAULT;
        for word in ["bcrypt=12", "rounds=5000", "memory=64M"] {
            limits.set(word).expect(word);
        }
        assert_eq!(limits, HashLimits { bcrypt: 12, rounds: 5000, memory: 64 << 20 });
        for word in [
            "bcrypt=3",
            "bcrypt=32",
            "bcrypt=",
            "rounds=999",
            "rounds=x",
            "memory=1K",
            "memory=1T",
            "md5=1",
            "bcrypt",
            "",
        ] {
            assert!(limits.set(word).is_err_and(|said| said.contains(&format!("got \"{word}\""))), "{word}");
        }
        assert_eq!(limits.bcrypt, 12);
    }
}
