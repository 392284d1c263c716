//! Code in CGI scripts that could break when they stay compiled. Only perl itself can distinguish code from strings, so
//! a finding may be harmless: it is reported with its line, for people to check.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::perl_text::code_lines;

/// Modes of CgiMode in which the code could break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgiModes {
    /// `CgiMode fork`
    Fork,
    /// `CgiMode persistent`
    Persistent,
    /// Fork and persistent.
    Both,
}

/// Code that could break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risk {
    /// Line number, from 1.
    pub line: u32,
    /// Name of the risk, such as `exec` or `global variables`
    pub what: &'static str,
    /// The consequence, as a sentence.
    pub note: &'static str,
    /// Modes in which the risk exists.
    pub holds: CgiModes,
}

/// Risks that a single line shows.
const PATTERNS: &[(&str, CgiModes, &str, &str)] = &[
    (
        r"(?:^|[\s;{(])exec\b(?:\s*[({]|\s+['\x22$@/q])",
        CgiModes::Persistent,
        "exec",
        "replaces the worker: the answer is lost, and another worker has to start",
    ),
    (
        r"\bPOSIX::_exit\b|(?:^|[\s;{])_exit\s*\(|\bkill\b[^;]*\$\$",
        CgiModes::Persistent,
        "_exit or kill",
        "ends the worker: the answer is lost, and another worker has to start",
    ),
    (
        r"\bflock\b",
        CgiModes::Persistent,
        "flock",
        "a lock on a handle that is never closed is held until the worker ends; close the handle, or store it in a my variable of a sub",
    ),
    (
        r"(?:^|[\s;{])(?:require|do)\s+\(?\s*['\x22][^'\x22]*\.(?:pl|ph|cgi|lib)['\x22]",
        CgiModes::Persistent,
        "require of a file",
        "a file without a package line defines its subs only for the first script that requires it",
    ),
    (
        r"(?:^|[\s;{])our\s*[($@%]",
        CgiModes::Persistent,
        "our",
        "the variable retains its value for the next request unless it is set first",
    ),
    (
        r"(?:^|[\s;])use\s+vars\b",
        CgiModes::Persistent,
        "use vars",
        "the variables retain their values for the next request unless they are set first",
    ),
    (
        r"(?:^|[\s;{])fork\b(?:\s*\(\s*\))?\s*(?:;|\)|or\b|//|\|\||$)",
        CgiModes::Persistent,
        "fork",
        "the child is a copy of the worker, with all its modules and open files",
    ),
];

/// Risks in BEGIN blocks only.
const IN_BEGIN: &[(&str, CgiModes, &str, &str)] = &[
    (
        r"\$ENV\s*\{|[%\\]ENV\b",
        CgiModes::Both,
        "%ENV in BEGIN",
        "runs once for all requests and finds no variables of a request",
    ),
    (
        r"\bconnect\w*\s*\(|->\s*connect\b",
        CgiModes::Both,
        "a connection in BEGIN",
        "all requests share the connection that is opened while the script compiles",
    ),
    (
        r"\bprint\b",
        CgiModes::Both,
        "print in BEGIN",
        "runs once for all requests: under CgiMode fork the script runs as a program",
    ),
    (
        r"\bexit\b",
        CgiModes::Both,
        "exit in BEGIN",
        "the script does not stay compiled: under CgiMode fork it runs as a program",
    ),
];

type Pattern = (Regex, CgiModes, &'static str, &'static str);

static LINES: LazyLock<Vec<Pattern>> = LazyLock::new(|| compiled(PATTERNS));
static BEGINS: LazyLock<Vec<Pattern>> = LazyLock::new(|| compiled(IN_BEGIN));
static FILE_VARIABLES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^my\s*\(?\s*([$@%]\w[^)=;]*)").ok());
static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[$@%](\w+)").ok());
static STRICT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*use\s+(?:strict|Modern::Perl|Moose|Mojo|common::sense|v?5\.(?:[1-9]\d|0[1-9]\d))").ok()
});

fn compiled(patterns: &[(&str, CgiModes, &'static str, &'static str)]) -> Vec<Pattern> {
    let compile = |(text, holds, what, note): &(&str, CgiModes, &'static str, &'static str)| {
        Some((Regex::new(text).ok()?, *holds, *what, *note))
    };
    patterns.iter().filter_map(compile).collect()
}

/// The risks of a script: each kind once, at its first line.
pub fn of(text: &str) -> Vec<Risk> {
    let mut risks: Vec<Risk> = Vec::new();
    let mut add = |line: u32, (holds, what, note): (CgiModes, &'static str, &'static str)| {
        if !risks.iter().any(|known| known.what == what) {
            risks.push(Risk { line, what, note, holds });
        }
    };
    if let Some(kind) = switches(text) {
        add(1, kind);
    }
    let is_strict = code_lines(text).any(|(_, code)| STRICT.as_ref().is_some_and(|strict| strict.is_match(code)));
    if !is_strict {
        let note = "without use strict, variables without my retain their values for the next request";
        add(1, (CgiModes::Persistent, "no use strict", note));
    }
    let mut begin = Depth::default();
    for (line, code) in code_lines(text) {
        for (_, holds, what, note) in LINES.iter().filter(|(pattern, ..)| pattern.is_match(code)) {
            add(line, (*holds, *what, *note));
        }
        if begin.takes(code, "BEGIN") {
            for (_, holds, what, note) in BEGINS.iter().filter(|(pattern, ..)| pattern.is_match(code)) {
                add(line, (*holds, *what, *note));
            }
        }
    }
    if let Some(line) = shared_variable(text) {
        let note = "a named sub retains the value that a my variable of the file had in the first request; pass it, or declare it with our and set it";
        add(line, (CgiModes::Persistent, "a my variable in a sub", note));
    }
    risks.sort_by_key(|risk| risk.line);
    risks
}

/// Switches of the `#!` line that only a separate perl process applies.
fn switches(text: &str) -> Option<(CgiModes, &'static str, &'static str)> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let (_, switches) = line.split_once("perl")?;
    let mut words = switches.split_whitespace().filter(|word| word.starts_with('-'));
    let is_usual = |word: &str| word.starts_with("-I") || word.chars().all(|c| "-wWl".contains(c));
    let note = "only a separate perl process applies this switch: under CgiMode fork the script runs as a program, under persistent without it";
    words.any(|word| !is_usual(word)).then_some((CgiModes::Both, "a switch of the #! line", note))
}

/// Nesting depth of braces in a block. Braces in strings count, too: most are balanced.
#[derive(Default)]
struct Depth {
    braces: i32,
    /// Whether the block has begun, but its first brace is on a later line.
    awaits: bool,
}

impl Depth {
    /// Whether the line belongs to a block that begins with the word.
    fn takes(&mut self, code: &str, word: &str) -> bool {
        let is_inside = self.braces > 0 || self.awaits;
        let begins = |rest: &&str| rest.is_empty() || rest.starts_with(['{', ' ', '\t']);
        let rest = if is_inside { Some(code) } else { code.trim_start().strip_prefix(word).filter(begins) };
        let Some(rest) = rest else { return false };
        let count = |brace: char| i32::try_from(rest.matches(brace).count()).unwrap_or(0);
        self.braces = (self.braces + count('{') - count('}')).max(0);
        self.awaits = (self.awaits || !is_inside) && count('{') == 0 && !rest.ends_with(';');
        true
    }
}

/// The line of a named sub that uses a `my` variable of the file.
fn shared_variable(text: &str) -> Option<u32> {
    let (declared, variable) = (FILE_VARIABLES.as_ref()?, VARIABLE.as_ref()?);
    let (mut of_file, mut sub) = (BTreeSet::new(), Depth::default());
    for (line, code) in code_lines(text) {
        if sub.takes(code, "sub") {
            let own = code.trim_start().starts_with("my");
            if !own && variable.captures_iter(code).any(|found| of_file.contains(&found[1])) {
                return Some(line);
            }
        } else if let Some(found) = declared.captures(code) {
            of_file.extend(variable.captures_iter(&found[1]).map(|name| name[1].to_owned()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u32, &'static str)> {
        of(text).into_iter().map(|risk| (risk.line, risk.what)).collect()
    }

    #[test]
    fn a_script_that_was_written_for_it_has_none() {
        let text = "#!/usr/bin/perl -w\nuse strict;\nuse CGI;\nmy $q = CGI->new;\nprint $q->header;\n# exec 'x';\nshow($q);\n\
                    sub show {\n    my ($query) = @_;\n    print $query->param('exec');\n}\n__END__\nexec 'y'; our $x;\n";
        assert_eq!(found(text), []);
    }

    #[test]
    fn each_kind_is_found_once_at_its_first_line() {
        for (code, what) in [
            ("exec '/bin/true';\nexec $x;", "exec"),
            ("exec { $program } @list;", "exec"),
            ("use POSIX; POSIX::_exit(0);", "_exit or kill"),
            ("kill 'TERM', $$;", "_exit or kill"),
            ("open my $f, '<', 'x'; flock $f, 2;", "flock"),
            ("require './common.pl';", "require of a file"),
            ("our ($a, $b);", "our"),
            ("use vars qw($x);", "use vars"),
            ("my $p = fork;", "fork"),
            ("defined(my $p = fork()) or die;", "fork"),
            ("BEGIN { $name = $ENV{QUERY_STRING} }", "%ENV in BEGIN"),
            ("BEGIN {\n    $dbh = DBI->connect('dbi:x');\n}", "a connection in BEGIN"),
            ("BEGIN { print 'Content-Type: text/plain' }", "print in BEGIN"),
            ("BEGIN { exit if $x }", "exit in BEGIN"),
            ("my $name = 'x';\nsub show { print $name }", "a my variable in a sub"),
            ("my ($one, $two) = @ARGV;\nsub show\n{\n}\nsub other {\n    return $two;\n}", "a my variable in a sub"),
        ] {
            let text = format!("#!/usr/bin/perl\nuse strict;\n{code}\n");
            let all = found(&text);
            assert_eq!(all.iter().filter(|(_, found)| *found == what).count(), 1, "{code}: {all:?}");
        }
        assert_eq!(found("#!/usr/bin/perl\nprint $x;\n"), [(1, "no use strict")]);
        assert_eq!(found("#!/usr/bin/perl -wT\nuse strict;\n"), [(1, "a switch of the #! line")]);
    }

    #[test]
    fn words_that_only_look_like_it_are_none() {
        for code in [
            "$sth->execute; $db->exec('x')",
            "print $q->fork_name",
            "my $out = `flock_dir`",
            "BEGIN { require 5.8 }",
            "$ENV{PATH} = '/bin';",
        ] {
            let text = format!("#!/usr/bin/perl\nuse strict;\n{code}\n");
            assert_eq!(found(&text), [], "{code}");
        }
    }
}
