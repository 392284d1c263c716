//! Comparison of a password with a hash in the formats of htpasswd and crypt(3). Plain text is not supported.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use sha1::Sha1;
use subtle::ConstantTimeEq;

use super::User;

/// A password and a hash whose cost is within the limits. The comparison may take about a second.
#[derive(Clone)]
pub struct PasswordCheck {
    pub(super) user: String,
    pub(super) password: Vec<u8>,
    pub(super) hash: String,
    /// The realm, if the hash is one of AuthType Digest: see `AuthBasicUseDigestAlgorithm`.
    pub(super) realm: Option<Box<str>>,
    /// Memory of the computation in bytes; see [`super::hash_cost`].
    pub(super) memory: usize,
    /// Names and values of further columns of the user's row in a database.
    pub(super) columns: Vec<(String, String)>,
}

impl PasswordCheck {
    /// The user, if the password is right.
    pub(super) fn into_user(self) -> User {
        User::with_columns(self.user, self.columns)
    }

    /// The user name that the client sent.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Memory of the computation in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Computes the hash, and compares.
    pub fn is_right(&self) -> bool {
        match &self.realm {
            Some(realm) => digest(&self.user, realm, &self.password).as_bytes().ct_eq(self.hash.as_bytes()).into(),
            None => fits(&self.password, &self.hash),
        }
    }
}

/// Prefixes that are passed to crypt(3). For others it may return a failure token, which a file could contain, too.
const CRYPT: [&str; 8] = ["$1$", "$5$", "$6$", "$2a$", "$2b$", "$2y$", "$y$", "$7$"];

/// Maximum length of a password in bytes for hashes that repeat it in each round, as in libxcrypt.
const MAX_PASSWORD_BYTES: usize = 512;

fn fits(password: &[u8], hash: &str) -> bool {
    if password.len() > MAX_PASSWORD_BYTES && !hash.starts_with("{SHA}") {
        return false;
    }
    let made = match hash {
        _ if hash.starts_with("{SHA}") => Some(sha(password)),
        _ if hash.starts_with("$apr1$") => apr1(password, hash),
        _ if CRYPT.iter().any(|prefix| hash.starts_with(prefix)) || is_des(hash) => sys::crypt(password, hash),
        _ => None,
    };
    made.is_some_and(|made| made.as_bytes().ct_eq(hash.as_bytes()).into())
}

/// Whether this is a DES hash: thirteen characters, the first two are the salt.
fn is_des(hash: &str) -> bool {
    hash.len() == 13 && hash.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/'))
}

/// The hash of AuthType Digest: MD5 of user, realm and password, in hexadecimal digits.
fn digest(user: &str, realm: &str, password: &[u8]) -> String {
    let md5 = Md5::new().chain_update(format!("{user}:{realm}:")).chain_update(password).finalize();
    md5.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha(password: &[u8]) -> String {
    format!("{{SHA}}{}", STANDARD.encode(Sha1::digest(password)))
}

/// httpd's variant of FreeBSD's MD5 crypt, with another magic string.
fn apr1(password: &[u8], hash: &str) -> Option<String> {
    const MAGIC: &str = "$apr1$";
    let salt = hash.strip_prefix(MAGIC)?.split('$').next()?;
    let salt = salt.get(..salt.len().min(8))?;
    let inner = Md5::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut outer = Md5::new().chain_update(password).chain_update(MAGIC).chain_update(salt);
    for taken in (0..password.len()).step_by(inner.len()) {
        outer.update(&inner[..inner.len().min(password.len() - taken)]);
    }
    let mut bits = password.len();
    while bits > 0 {
        outer.update(if bits & 1 == 1 { &[0][..] } else { password.get(..1)? });
        bits >>= 1;
    }
    let mut digest = outer.finalize();
    for round in 0..1000 {
        digest = stretched(round, password, salt.as_bytes(), &digest);
    }
    Some(format!("{MAGIC}{salt}${}", encoded(&digest)))
}

fn stretched(round: u32, password: &[u8], salt: &[u8], digest: &[u8]) -> md5::digest::Output<Md5> {
    let (first, last) = if round % 2 == 1 { (password, digest) } else { (digest, password) };
    let mut next = Md5::new().chain_update(first);
    if !round.is_multiple_of(3) {
        next.update(salt);
    }
    if !round.is_multiple_of(7) {
        next.update(password);
    }
    next.chain_update(last).finalize()
}

/// Encodes sixteen bytes as crypt(3) does: six bits per character, the lowest first.
fn encoded(digest: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const ORDER: [[usize; 3]; 5] = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]];
    let byte = |at: usize| digest.get(at).copied().map_or(0, u32::from);
    let groups = ORDER.map(|[high, middle, low]| (byte(high) << 16 | byte(middle) << 8 | byte(low), 4));
    let mut text = String::with_capacity(22);
    for (value, characters) in groups.into_iter().chain([(byte(11), 2)]) {
        text.extend((0..characters).map(|at| ALPHABET[(value >> (6 * at)) as usize % 64] as char));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `htpasswd -nb`, `openssl passwd`.
    const RIGHT: &[(&str, &str)] = &[
        ("secret", "$apr1$ctbO2yNF$3/CF0PpDCIotEGZXLajwG0"),
        ("a much longer password than sixteen characters", "$apr1$U.TpviWr$zGnFoVL5mLPM6UndABriY0"),
        ("secret", "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="),
        ("secret", "O0mxnBkiAC8QE"),
        ("secret", "$2y$04$q9I3rMaXvskYsf3pT5wpveQmsqGDiiPbayt6hGJvaD3DMRCoHJEgi"),
        ("pässword", "$1$p/PJjjp7$b/sYqbIc6Mjh0Eq5lDEKc/"),
        ("pässword", "$5$E/VdLNiwI9b/Sinq$dpzecRqv179.5WtgRibytbulQu.EOlnz25NRvAiRqgD"),
        (
            "pässword",
            "$6$Ap97RFuYj.ePfrqg$pUn.nMZyL3xdtG/HdQHKANFO5F6Dyt1r9JBSNGlXzWqLI97UCYhJoP7JywFek2jEf48whTUqW0eGyKG62gXUx/",
        ),
        ("pässword", "$apr1$TyTIPz1n$MrdaizQd5d.XJcnovL3uf/"),
    ];

    #[test]
    fn every_format_of_htpasswd_is_supported() {
        for (password, hash) in RIGHT {
            assert!(fits(password.as_bytes(), hash), "{password} {hash}");
            assert!(!fits(format!("x{password}").as_bytes(), hash), "{hash}");
            assert!(!fits(b"", hash), "{hash}");
        }
    }

    #[test]
    fn plain_text_and_failure_tokens_match_no_password() {
        for hash in ["", "secret", "*0", "*1", "*", "!", "x", "$9$a$b", "{SSHA}abc", "$apr1$", "$1$", "$2y$05$"] {
            for password in ["", "secret", hash] {
                assert!(!fits(password.as_bytes(), hash), "{password} {hash}");
            }
        }
    }
}
