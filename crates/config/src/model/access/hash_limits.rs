//! Maximum cost of password hashes.

use crate::syntax::value;

/// `LimitPasswordHash`. The author of a password file chooses the cost of its hashes, and each guess of a client
/// computes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashLimits {
    /// Maximum cost of bcrypt. Each step doubles the time.
    pub bcrypt: u8,
    /// Maximum rounds of the SHA crypts.
    pub rounds: u64,
    /// Maximum memory of scrypt and yescrypt, in bytes. Their time is proportional to it.
    pub memory: u64,
}

/// About a second for each kind of hash.
pub const DEFAULT: HashLimits = HashLimits { bcrypt: 14, rounds: 1_000_000, memory: 32 << 20 };

impl Default for HashLimits {
    fn default() -> HashLimits {
        DEFAULT
    }
}

impl HashLimits {
    /// Sets a limit from `bcrypt=12`, `rounds=500000` or `memory=64M`.
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
    fn a_word_of_limit_password_hash_sets_one_limit() {
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
            assert!(limits.set(word).is_err_and(|message| message.contains(&format!("got \"{word}\""))), "{word}");
        }
        assert_eq!(limits.bcrypt, 12);
    }
}
