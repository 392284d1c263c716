//! The flags of a `RewriteRule`.

use super::condition::split_flags;
use super::map::Maps;
use super::template::Template;
use crate::syntax::pattern::Case;
use base::path::Text;

/// The third argument of `RewriteRule`; by default no flag is set.
#[derive(Debug, Clone, Default)]
pub struct RuleFlags {
    /// `C`: if the rule does not match, the rules chained to it are skipped.
    pub chain: bool,
    /// `L`: rewriting stops.
    pub last: bool,
    /// `END`: as `L`, also when the rewritten path is processed again.
    pub end: bool,
    /// `N`: restarts with the first rule, at most this many times.
    pub next: Option<u32>,
    /// `S=n`: number of rules to skip.
    pub skip: usize,
    /// `F`, `G`, `R=404`: status of the response.
    pub status: Option<u16>,
    /// `R`: status of the redirection.
    pub redirect: Option<u16>,
    /// `P`: a backend answers.
    pub proxy: bool,
    /// `PT`: Alias and similar directives apply to the result.
    pub pass_through: bool,
    /// `QSA`: the original query is appended to the new one.
    pub query_append: bool,
    /// `QSD`: the original query is dropped.
    pub query_discard: bool,
    /// `QSL`: the query begins at the last question mark.
    pub query_last: bool,
    /// `NE`: the redirection's URL is not escaped.
    pub no_escape: bool,
    /// `B`, `BNE`, `BCTLS`, `BNP`: how groups of patterns are escaped.
    pub escapes: Escapes,
    /// `DPI`: the path after the file name is dropped.
    pub discard_path_info: bool,
    /// `NS`: the rule does not apply to subrequests.
    pub no_subrequests: bool,
    /// `CO`: cookies, see `cookie`.
    pub cookies: Vec<Template>,
    /// `E`: variables, `name:text`, `name` or `!name`.
    pub variables: Vec<Template>,
    /// `H`: handler of the request.
    pub handler: Option<Template>,
    /// `T`: media type of the response.
    pub content_type: Option<Template>,
    /// `UnsafePrefixStat`: the result may be a file system path even if it begins with a variable.
    pub unsafe_prefix_stat: bool,
}

/// Escaping of groups in a substitution: the flags B, BNP, BCTLS and BNE.
#[derive(Debug, Clone, Default)]
pub struct Escapes {
    /// `B`: all bytes except letters, digits and `_`.
    all: bool,
    /// `B=…`: the listed bytes.
    these: String,
    /// `BNE=…`: bytes that are not escaped.
    not_these: String,
    /// `BCTLS`: control characters and spaces.
    controls: bool,
    /// `BNP`: a space becomes %20 instead of +.
    no_plus: bool,
}

impl Escapes {
    /// The escaped text of a group.
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

/// Maximum rounds of `N`. httpd's 10,000 would block a thread of the front, and all its clients, for seconds.
const ROUNDS: u32 = 250;

/// Parses flags. The second value is the case of the pattern (`NC`).
pub fn parse(flags: &str, maps: &Maps) -> Result<(RuleFlags, Case), String> {
    let (mut all, mut case) = (RuleFlags::default(), Case::Exact);
    for flag in split_flags(flags)? {
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        match name.to_ascii_uppercase().as_str() {
            "NC" | "NOCASE" => case = Case::Either,
            upper => all.add(upper, value, maps).map_err(|wrong| wrong.unwrap_or_else(|| unknown(flag)))?,
        }
    }
    Ok((all, case))
}

impl RuleFlags {
    /// Applies a flag. `Err(None)`: unknown flag.
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
            ("B" | "BACKREFESCAPING", None | Some("")) => self.escapes.all = true,
            ("B" | "BACKREFESCAPING", Some(which)) => self.escapes.these.push_str(which),
            ("BNE", Some(which)) => self.escapes.not_these.push_str(which),
            ("BCTLS", None) => self.escapes.controls = true,
            ("BNP" | "BACKREFNOPLUS", None) => self.escapes.no_plus = true,
            ("D" | "DPI" | "DISCARDPATH", None) => self.discard_path_info = true,
            ("NS" | "NOSUBREQ", None) => self.no_subrequests = true,
            ("E" | "ENV", Some(change)) => self.variables.push(variable(change, maps)?),
            ("H" | "HANDLER", Some(name)) => self.handler = Some(Template::parse(name, maps)?),
            ("T" | "TYPE", Some(name)) => self.content_type = Some(Template::parse(name, maps)?),
            // An encoded question mark of the client stays part of the path here, which is safe.
            ("UNSAFEALLOW3F", None) => {}
            ("UNSAFEPREFIXSTAT", None) => self.unsafe_prefix_stat = true,
            ("P" | "PROXY", None) => (self.proxy, self.last) = (true, true),
            ("CO" | "COOKIE", Some(cookie)) => self.cookies.push(Template::parse(cookie, maps)?),
            _ => return Err(None),
        }
        Ok(())
    }

    fn sends_away(&mut self, value: Option<&str>) -> Result<(), Option<String>> {
        let status = match value.map(str::to_ascii_lowercase).as_deref() {
            Some("permanent") => 301,
            Some("seeother") => 303,
            Some(other) if other.starts_with(|c: char| c.is_ascii_digit()) => number(other)?,
            // `R`, `R=temp`, and any other word, as in httpd: public sites have `R=temporary`.
            _ => 302,
        };
        match status {
            300..400 => self.redirect = Some(status as u16),
            200..300 | 400..600 => (self.status, self.last) = (Some(status as u16), true),
            _ => return Err(Some(format!("expected a status from 200 to 599 after R=, got {status}"))),
        }
        Ok(())
    }
}

/// Parses `name:text`, `name`, `!name`.
fn variable(change: &str, maps: &Maps) -> Result<Template, Option<String>> {
    if change.split(':').next().is_some_and(|name| name.eq_ignore_ascii_case("HTTP_PROXY")) {
        return Err(Some(
            "HTTP_PROXY must not depend on the request, because programs send their own requests there".to_owned(),
        ));
    }
    Ok(Template::parse(change, maps)?)
}

fn number(text: &str) -> Result<u32, Option<String>> {
    text.parse().map_err(|_| Some(format!("expected a number, got \"{text}\"")))
}

fn unknown(flag: &str) -> String {
    format!(
        "unknown flag \"{flag}\"; expected one of B, BCTLS, BNE, BNP, C, CO, DPI, E, END, F, G, H, L, N, NC, NE, NS, P, PT, \
         QSA, QSD, QSL, R, S, T, UnsafeAllow3F, UnsafePrefixStat"
    )
}
