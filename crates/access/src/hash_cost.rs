//! Cost of password hashes by their parameters. The author of a password file chooses them, and without a limit one
//! guess could occupy a processor for a day, or all memory. The parameters are checked before a hash is computed.

use config::access::HashLimits;

/// Memory of the computation in bytes. The error names the limit that is exceeded.
pub fn memory(hash: &str, limits: HashLimits) -> Result<usize, String> {
    match hash.get(..3).unwrap_or_default() {
        "$2a" | "$2b" | "$2y" => bcrypt(hash, limits.bcrypt).map(|()| 0),
        "$5$" | "$6$" => rounds(hash, limits.rounds).map(|()| 0),
        "$y$" => yescrypt(hash.get(3..).unwrap_or_default(), limits.memory),
        "$7$" => scrypt(hash.get(3..).unwrap_or_default(), limits.memory),
        _ => Ok(0),
    }
}

fn bcrypt(hash: &str, most: u8) -> Result<(), String> {
    match hash.get(4..6).and_then(|cost| cost.parse::<u8>().ok()) {
        Some(cost) if cost <= most => Ok(()),
        Some(cost) => Err(format!("the cost of this bcrypt hash is {cost}, but the limit is {most}")),
        None => Err(unknown("bcrypt")),
    }
}

/// Checks `$6$rounds=5000$salt$`. The default is 5000 rounds.
fn rounds(hash: &str, most: u64) -> Result<(), String> {
    let count = match hash.get(3..).and_then(|rest| rest.strip_prefix("rounds=")) {
        Some(rest) => rest.split_once('$').and_then(|(rounds, _)| rounds.parse::<u64>().ok()),
        None => Some(5000),
    };
    match count {
        Some(rounds) if rounds <= most => Ok(()),
        Some(rounds) => Err(format!("this SHA crypt hash has {rounds} rounds, but the limit is {most}")),
        None => Err(unknown("SHA crypt")),
    }
}

/// Checks `j9T$salt$`: flavour, logarithm of N, r. crypt(3) never writes further parameters, which would multiply the
/// time.
fn yescrypt(rest: &str, most: u64) -> Result<usize, String> {
    let mut numbers = rest.split('$').next().unwrap_or_default().chars().map(digit);
    let read = [numbers.next().flatten(), numbers.next().flatten(), numbers.next().flatten()];
    // Digits from 48 on begin a number of several digits.
    let small = |digit: Option<u64>| digit.filter(|digit| *digit < 48);
    match (read.map(small), numbers.next()) {
        ([Some(0 | 1 | 47), Some(log), Some(r)], None) => {
            fitting("yescrypt", &ScryptCost { log: log + 1, r: r + 1, p: 1 }, most)
        }
        _ => Err(unknown("yescrypt")),
    }
}

/// Checks `C6..../....salt$`: logarithm of N, r and p.
fn scrypt(rest: &str, most: u64) -> Result<usize, String> {
    let digits: Option<Vec<u64>> = rest.chars().take(11).map(digit).collect();
    let Some((log, numbers)) = digits.as_deref().and_then(<[u64]>::split_first) else { return Err(unknown("scrypt")) };
    let number = |digits: &[u64]| digits.iter().rev().fold(0, |sum, digit| sum << 6 | digit);
    match numbers.split_at_checked(5) {
        Some((r, p)) if p.len() == 5 => fitting("scrypt", &ScryptCost { log: *log, r: number(r), p: number(p) }, most),
        _ => Err(unknown("scrypt")),
    }
}

/// Cost parameters of scrypt (RFC 7914, section 2).
struct ScryptCost {
    /// Logarithm of N to base 2.
    log: u64,
    r: u64,
    p: u64,
}

/// Checks that p times 128·N·r bytes are within the limit.
fn fitting(what: &str, cost: &ScryptCost, most: u64) -> Result<usize, String> {
    let n = 1u128 << cost.log.min(63);
    let size = (128 * n).saturating_mul(u128::from(cost.r)).saturating_mul(u128::from(cost.p));
    match usize::try_from(size) {
        Ok(size) if size as u64 <= most => Ok(size),
        _ => Err(format!("this {what} hash takes {} MB, but the limit is {} MB", size >> 20, most >> 20)),
    }
}

fn unknown(what: &str) -> String {
    format!("unknown parameters of this {what} hash, so that its cost cannot be limited")
}

/// Value of a base-64 digit of crypt(3).
fn digit(c: char) -> Option<u64> {
    Some(match c {
        '.' => 0,
        '/' => 1,
        '0'..='9' => u64::from(c) - u64::from('0') + 2,
        'A'..='Z' => u64::from(c) - u64::from('A') + 12,
        'a'..='z' => u64::from(c) - u64::from('a') + 38,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_common_tools_are_accepted() {
        for (hash, expected) in [
            ("$2y$05$q9I3rMaXvskYsf3pT5wpveQmsqGDiiPbayt6hGJvaD3DMRCoHJEgi", 0),
            ("$2b$14$q9I3rMaXvskYsf3pT5wpve", 0),
            ("$6$rounds=1000000$salt$", 0),
            ("$5$salt$", 0),
            ("$1$salt$", 0),
            ("{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", 0),
            ("O0mxnBkiAC8QE", 0),
            ("", 0),
            ("$y$j9T$salt$", 16 << 20),
            ("$y$jAT$salt$", 32 << 20),
            ("$7$C6..../....salt$", 16 << 20),
        ] {
            assert_eq!(memory(hash, HashLimits::default()), Ok(expected), "{hash}");
        }
    }

    #[test]
    fn a_hash_that_costs_too_much_is_refused_with_the_limit() {
        for (hash, message) in [
            ("$2y$15$salt", "is 15, but the limit is 14"),
            ("$2a$31$salt", "is 31, but the limit is 14"),
            ("$2b$", "unknown parameters"),
            ("$2y$é", "unknown parameters"),
            ("$6$rounds=1000001$salt$", "has 1000001 rounds, but the limit is 1000000"),
            ("$5$rounds=999999999$salt$", "the limit is 1000000"),
            ("$6$rounds=99999999999999999999999$salt$", "unknown parameters"),
            ("$6$rounds=9", "unknown parameters"),
            ("$y$jBT$salt$", "takes 64 MB, but the limit is 32 MB"),
            ("$y$j9T5$salt$", "unknown parameters"),
            ("$y$j9zzz$salt$", "unknown parameters"),
            ("$y$", "unknown parameters"),
            ("$7$I6..../....salt$", "takes 1024 MB, but the limit is 32 MB"),
            ("$7$C6....z....salt$", "the limit is 32 MB"),
            ("$7$zzzzzzzzzzzsalt$", "the limit is 32 MB"),
            ("$7$C6", "unknown parameters"),
        ] {
            let refused = memory(hash, HashLimits::default()).expect_err(hash);
            assert!(refused.contains(message), "{hash}: {refused}");
        }
    }

    #[test]
    fn limits_are_the_administrators() {
        let limits = HashLimits { bcrypt: 12, rounds: 5000, memory: 64 << 20 };
        for (hash, refused) in [
            ("$2y$12$salt", None),
            ("$2y$13$salt", Some("is 13, but the limit is 12")),
            ("$6$salt$", None),
            ("$6$rounds=5001$salt$", Some("has 5001 rounds, but the limit is 5000")),
            ("$y$jBT$salt$", None),
            ("$y$jCT$salt$", Some("takes 128 MB, but the limit is 64 MB")),
        ] {
            let error = memory(hash, limits).err();
            assert_eq!(error.is_some(), refused.is_some(), "{hash}: {error:?}");
            assert!(error.unwrap_or_default().contains(refused.unwrap_or_default()), "{hash}");
        }
    }
}
