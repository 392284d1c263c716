//! The flags of a `RewriteRule`.

use super::condition::words_of;
use super::map::Maps;
use super::template::Template;
use crate::config::syntax::pattern::Case;
use crate::path::Text;

/// What a rule does beside giving another path.
#[derive(Debug, Clone, Default)]
pub struct RuleFlags {
    /// `C`: where it does not apply, those chained to it do not either.
    pub chain: bool,
    /// `L`: no further rule.
    pub last: bool,
    /// `END`: nor any when the request is asked for anew.
    pub end: bool,
    /// `N`: from the first rule on again, so often at most.
    pub next: Option<u32>,
    /// `S=n`: so many rules are passed over.
    pub skip: usize,
    /// `F`, `G`, `R=404`: this is answered.
    pub status: Option<u16>,
    /// `R`: the client is sent there, with this status.
    pub redirect: Option<u16>,
    /// `PT`: what it makes is a path for Alias and its kin, too.
    pub pass_through: bool,
    /// `QSA`: the query that was sent goes behind the new one.
    pub query_append: bool,
    /// `QSD`: the query that was sent is dropped.
    pub query_discard: bool,
    /// `QSL`: the last question mark begins the query.
    pub query_last: bool,
    /// `NE`: what a client is sent is not escaped.
    pub no_escape: bool,
    /// `B` and its kin: how what patterns have found is escaped.
    pub escapes: Escapes,
    /// `DPI`: what stands behind the name of the file is dropped.
    pub discard_path_info: bool,
    /// `NS`: not for requests that others make.
    pub no_subrequests: bool,
    /// `CO`: see [`super::cookie`].
    pub cookies: Vec<Template>,
    /// `E`: variables; without a text: taken away.
    pub variables: Vec<(String, Option<Template>)>,
}

/// How what patterns have found is escaped.
#[derive(Debug, Clone, Default)]
pub struct Escapes {
    /// `B`: all but letters, digits and `_`.
    all: bool,
    /// `B=…`: these.
    these: String,
    /// `BNE=…`: not these.
    not_these: String,
    /// `BCTLS`: control characters and spaces.
    controls: bool,
    /// `BNP`: a space becomes %20, not +.
    no_plus: bool,
}

impl Escapes {
    /// What a pattern has found, escaped.
    pub fn text(&self, text: &str) -> String {
        if !self.all && !self.controls && self.these.is_empty() {
            return text.to_owned();
        }
        let mut escaped = String::with_capacity(text.len());
        for byte in Text::bytes_in(text) {
            match byte {
                byte if !self.is_for(byte) => escaped.push_str(&Text::new(&[byte]).0),
                b' ' if !self.no_plus => escaped.push('+'),
                byte => escaped.push_str(&format!("%{byte:02x}")),
            }
        }
        escaped
    }

    fn is_for(&self, byte: u8) -> bool {
        let is_in = |list: &str| list.as_bytes().contains(&byte);
        let is_wanted = self.all && !byte.is_ascii_alphanumeric() && byte != b'_'
            || self.controls && (byte == b' ' || byte.is_ascii_control())
            || is_in(&self.these);
        is_wanted && !is_in(&self.not_these)
    }
}

/// `N` without a number: httpd goes through the rules 10,000 times, which is seconds of the thread that has all clients.
const ROUNDS: u32 = 250;

/// A rule's flags, and whether letters of its pattern are of either case.
pub fn parse(flags: &str, maps: &Maps) -> Result<(RuleFlags, Case), String> {
    let (mut all, mut case) = (RuleFlags::default(), Case::Exact);
    for flag in words_of(flags)? {
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        match name.to_ascii_uppercase().as_str() {
            "NC" | "NOCASE" => case = Case::Either,
            upper => all.add(upper, value, maps).map_err(|wrong| wrong.unwrap_or_else(|| unknown(flag)))?,
        }
    }
    Ok((all, case))
}

impl RuleFlags {
    /// An error without words: nobody knows it.
    fn add(&mut self, name: &str, value: Option<&str>, maps: &Maps) -> Result<(), Option<String>> {
        match (name, value) {
            ("C" | "CHAIN", None) => self.chain = true,
            ("L" | "LAST", None) => self.last = true,
            ("END", None) => (self.last, self.end) = (true, true),
            ("N" | "NEXT", None) => self.next = Some(ROUNDS),
            ("N" | "NEXT", Some(most)) => self.next = Some(number(most)?.clamp(1, ROUNDS)),
            ("S" | "SKIP", Some(count)) => self.skip = number(count)? as usize,
            ("F" | "FORBIDDEN", None) => (self.status, self.last) = (Some(403), true),
            ("G" | "GONE", None) => (self.status, self.last) = (Some(410), true),
            ("R" | "REDIRECT", value) => self.sends_away(value)?,
            ("PT" | "PASSTHROUGH", None) => self.pass_through = true,
            ("QSA" | "QSAPPEND", None) => self.query_append = true,
            ("QSD" | "QSDISCARD", None) => self.query_discard = true,
            ("QSL" | "QSLAST", None) => self.query_last = true,
            ("NE" | "NOESCAPE", None) => self.no_escape = true,
            ("B", None) => self.escapes.all = true,
            ("B", Some(which)) => self.escapes.these.push_str(which),
            ("BNE", Some(which)) => self.escapes.not_these.push_str(which),
            ("BCTLS", None) => self.escapes.controls = true,
            ("BNP" | "BACKREFNOPLUS", None) => self.escapes.no_plus = true,
            ("DPI" | "DISCARDPATH", None) => self.discard_path_info = true,
            ("NS" | "NOSUBREQ", None) => self.no_subrequests = true,
            ("E" | "ENV", Some(change)) => self.variables.push(variable(change, maps)?),
            ("H" | "HANDLER", Some(_)) => {
                return Err(Some("say it by SetHandler in <FilesMatch> or <Location>".to_owned()));
            }
            ("T" | "TYPE", Some(_)) => {
                return Err(Some("say it by ForceType in <FilesMatch> or <Location>".to_owned()));
            }
            // Here a client's question mark is a letter of a path, which harms nobody.
            ("UNSAFEALLOW3F", None) => {}
            ("UNSAFEPREFIXSTAT", None) => {
                return Err(Some("what a client says never names a folder of the disk: write the folder".to_owned()));
            }
            ("P" | "PROXY", None) => return Err(Some("there is no proxy here: put one in front".to_owned())),
            ("CO" | "COOKIE", Some(cookie)) => self.cookies.push(Template::parse(cookie, maps)?),
            _ => return Err(None),
        }
        Ok(())
    }

    fn sends_away(&mut self, value: Option<&str>) -> Result<(), Option<String>> {
        let status = match value.map(str::to_ascii_lowercase).as_deref() {
            None | Some("temp") => 302,
            Some("permanent") => 301,
            Some("seeother") => 303,
            Some(other) => number(other)?,
        };
        match status {
            300..400 => self.redirect = Some(status as u16),
            200..300 | 400..600 => (self.status, self.last) = (Some(status as u16), true),
            _ => return Err(Some(format!("expected a status from 200 to 599 behind R=, got {status}"))),
        }
        Ok(())
    }
}

/// `name:text`, `name`, `!name`
fn variable(change: &str, maps: &Maps) -> Result<(String, Option<Template>), Option<String>> {
    if let Some(name) = change.strip_prefix('!') {
        return Ok((name.to_owned(), None));
    }
    let (name, text) = change.split_once(':').unwrap_or((change, ""));
    if name.eq_ignore_ascii_case("HTTP_PROXY") {
        return Err(Some("HTTP_PROXY would be a client's word, and programs send their own requests there".to_owned()));
    }
    Ok((name.to_owned(), Some(Template::parse(text, maps)?)))
}

fn number(text: &str) -> Result<u32, Option<String>> {
    text.parse().map_err(|_| Some(format!("expected a number, got \"{text}\"")))
}

fn unknown(flag: &str) -> String {
    format!("\"{flag}\" is not a flag of a rule that is known here")
}
