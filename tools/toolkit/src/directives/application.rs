//! Distinguishes PSGI applications from CGI scripts. plackup would run the file, but running a CGI script has
//! effects. The text decides instead: the value of the last statement is the value of the file. A CGI script does not
//! end with an application.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// Maximum file size in bytes that is searched; a larger file is no application.
const MAX_BYTES: u64 = 1 << 20;

/// Whether a file is a CGI script: by its extension and last statement or, with another extension, by its `#!` line.
pub fn is_script(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("psgi") => false,
        _ if is_application(path) => false,
        Some("cgi" | "pl") => true,
        _ => {
            let first = std::fs::File::open(path).ok().and_then(|file| BufReader::new(file).split(b'\n').next()?.ok());
            first.is_some_and(|line| line.starts_with(b"#!"))
        }
    }
}

/// Whether the file returns an application of PAGI, which needs an event loop.
pub fn is_pagi(file: &Path) -> bool {
    gives_pagi_application(&text(file))
}

/// Whether the text of a program is one that returns an application of PAGI: its subs are asynchronous.
pub fn gives_pagi_application(text: &str) -> bool {
    let code = code(text);
    let uses = |pattern: &Regex| pattern.is_match(&code);
    // Mojolicious has asynchronous subs as well.
    (uses(&ASYNC_AWAIT) || uses(&PAGI_CLASS)) && !code.contains("Mojolicious") && gives_application(text)
}

/// Whether the file's last statement returns an application.
fn is_application(file: &Path) -> bool {
    gives_application(&text(file))
}

/// The text of a file, unless the file is too large for a program.
fn text(file: &Path) -> String {
    let is_small = std::fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() <= MAX_BYTES);
    let text = if is_small { std::fs::read(file).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&text).into_owned()
}

fn gives_application(text: &str) -> bool {
    let code = code(text);
    let last = last_statement(&code);
    let uses = |module: &str| code.contains(module);
    ALWAYS.is_match(last)
        || (uses("Mojolicious") && MOJOLICIOUS.is_match(last))
        || (uses("Dancer") && DANCER.is_match(last))
        || (ASYNC_AWAIT.is_match(&code) && ASYNC.is_match(last))
}

static ALWAYS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:my|our)\s+)?(?:\$\w+\s*=\s*)?(?:sub(?:\s*\([^()]*\))?|builder)\s*\{.*\}$|^\$\w+$|^\\&[\w:]+$|->(?:to_app|psgi_app|to_psgi_app|wrap)\s*(?:\(.*\))?$",
    )
});
static MOJOLICIOUS: LazyLock<Regex> = LazyLock::new(|| pattern(r"->(?:start|start_app)\s*(?:\(.*\))?$"));
/// The modules with which programs of PAGI begin.
static ASYNC_AWAIT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)(?:^|;)\s*use\s+Future::AsyncAwait\b"));
static PAGI_CLASS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)(?:^|;)\s*use\s+PAGI::\w"));
/// An asynchronous sub, or an application in a middleware.
static ASYNC: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:(?:my|our)\s+)?(?:\$\w+\s*=\s*)?async\s+sub\b.*\}$|^[\w:]+\s*\(.*(?:\$\w+|\\&[\w:]+).*\)$")
});
static DANCER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:dance|start|to_app)\s*(?:\(\s*\))?$"));

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?s)(?:{text})")).expect("written here")
}

/// The text without POD, comments, and everything after `__END__` or `__DATA__`.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut is_pod = false;
    for line in text.lines() {
        let line = line.trim_end();
        if !is_pod && (line == "__END__" || line == "__DATA__") {
            break;
        }
        let begins_pod = line.strip_prefix('=').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        if begins_pod || is_pod {
            is_pod = !line.starts_with("=cut");
        } else if !line.trim_start().starts_with('#') {
            code.push_str(line.rsplit_once(" # ").map_or(line, |(code, _)| code));
            code.push('\n');
        }
    }
    code
}

/// The last statement: from the last semicolon, or block end before a line break, outside brackets.
fn last_statement(code: &str) -> &str {
    let code = code.trim_end_matches([';', ' ', '\t', '\n']);
    let mut depth = 0_usize;
    for (at, c) in code.char_indices().rev() {
        match c {
            '\n' if depth == 0 && code[..at].ends_with('}') => return code[at..].trim(),
            '}' | ')' | ']' => depth += 1,
            '{' | '(' | '[' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => return code[at + 1..].trim(),
            _ => {}
        }
    }
    code.trim()
}

#[cfg(test)]
mod tests {
    use super::{gives_application, gives_pagi_application};

    #[test]
    fn a_file_that_returns_an_application_is_one() {
        for text in [
            "my $app = sub { [200, [], ['{']] };\n$app;",
            "sub { [200, [], []] }",
            "use v5.36;\nsub ($env) { [200, [], []] };\n",
            "use strict;\nsub helper { 1 }\nsub { [200, [], []] };\n",
            "use Plack::Builder;\nbuilder {\n  enable 'Lint';\n  $app;\n};\n",
            "use Mojolicious::Lite -signatures;\nget '/' => sub ($c) { $c->render(text => 'x') };\n\napp->start;\n__DATA__\n@@ index.html.ep\nx;\n",
            "use Dancer2;\nget '/' => sub { 'x' };\ndance;",
            "package main;\nMy::App->to_app;  # for plackup\n\n=head1 NAME\n\nprint;\n\n=cut\n",
            "\\&handler;",
            "my $app = My->new;\nPlack::Middleware::Lint->wrap($app);",
        ] {
            assert!(gives_application(text), "{text}");
        }
    }

    #[test]
    fn an_application_of_pagi_has_asynchronous_subs() {
        for text in [
            "use Future::AsyncAwait;\nasync sub app { my ($scope) = @_; }\n\n\\&app;  # the application\n",
            "use Future::AsyncAwait;\nmy $app = async sub { };\n$app;\n",
            "use Future::AsyncAwait;\nasync sub { }\n",
            "use Future::AsyncAwait;\nmy $app = async sub { };\nwith_ticks($app);\n",
            "use v5.36; use Future::AsyncAwait; use JSON::PP;\nasync sub app { }\n\\&app;\n",
            "use strict; use PAGI::App::File; PAGI::App::File->new(root => 'x')->to_app;\n",
            "use PAGI::App::File;\nPAGI::App::File->new(root => 'x')->to_app;\n",
        ] {
            assert!(gives_pagi_application(text), "{text}");
        }
        for text in [
            "my $app = sub { [200, [], []] };\n$app;",
            "use Mojolicious::Lite -async_await;\nuse Future::AsyncAwait;\nget '/' => sub { };\napp->start;\n",
            "use Future::AsyncAwait;\nasync sub main { }\nmain()->get;\n",
            "# use Future::AsyncAwait;\nsub { [200, [], []] }",
        ] {
            assert!(!gives_pagi_application(text), "{text}");
        }
    }

    #[test]
    fn a_cgi_script_is_none() {
        for text in [
            "",
            "print \"Content-Type: text/plain\\n\\n\";\nprint 'hello';\n",
            "use CGI;\nmy $q = CGI->new;\nprint $q->header;\nsub helper { return sub { 1 } }\n",
            "My::WebApp->new->run;\n1;\n",
            "my $server = My::Server->new;\n$server->start;\n",
            "if ($x) {\n  print 'a';\n}\nelse {\n  print 'b';\n}\n",
            "print <<'END';\n$app\nEND\nexit;\n",
            "start();\n",
        ] {
            assert!(!gives_application(text), "{text}");
        }
    }
}
