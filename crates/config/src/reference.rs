//! The table of directives as text: reference page, and help of `cameleer check --directives`.

use crate::table::row::Row;
use crate::table::{self, httpd_only, unknown};

/// The first paragraph of the reference.
const LANGUAGE: &str = "\
Apache's language and, where httpd has a directive for a thing, Apache's names and meanings. A duration is
`500ms`, `2s`, `5m` or `1h`, a bare number is seconds; a size is `64K`, `512M` or `2G`, a bare number is bytes.
Relative paths start at ServerRoot.";

/// docs/reference/directives.md
pub fn markdown() -> String {
    let mut page = String::from(
        "# Directives\n\n\
         <!-- Generated from crates/config/src/table/: CAMELEER_BLESS=1 cargo test --package config --lib -->\n\n\
         ",
    );
    page.push_str(LANGUAGE);
    page.push_str("\n\n");
    let mut names: Vec<&str> = table::all().map(|row| row.name).collect();
    names.sort_unstable();
    let links: Vec<String> = names.iter().map(|name| format!("[{name}](#{})", name.to_ascii_lowercase())).collect();
    page.push_str(&links.join(" ·\n"));
    page.push('\n');
    for row in table::all() {
        page.push_str(&section(row));
    }
    page
}

fn section(row: &Row) -> String {
    let facts: String = facts(row).iter().map(|fact| wrapped(&format!("- {fact}"), "  ") + "\n").collect();
    format!("\n## {}\n\n    {}\n\n{}\n\n{facts}", row.name, row.syntax(), wrapped(row.about, ""))
}

/// Columns of the page.
const WIDTH: usize = 120;

/// The text in lines of at most [`WIDTH`] columns, as far as its words allow; further lines begin with `indent`. Code
/// stays on one line, and no line begins with a word that Markdown reads as a list or a heading.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut column = 0;
    let mut in_code = false;
    for (number, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        let is_mark =
            word.starts_with(['-', '+', '*', '#', '>', '|', '=']) || word.starts_with(|c: char| c.is_ascii_digit());
        if number > 0 && column + 1 + length > WIDTH && !in_code && !is_mark {
            lines.push('\n');
            lines.push_str(indent);
            column = indent.len();
        } else if number > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column = word.rsplit_once('\n').map_or(column + length, |(_, last)| last.chars().count());
        in_code ^= word.matches('`').count() % 2 == 1;
    }
    lines
}

/// Aliases, contexts, default and effect of a directive, a line for each.
fn facts(row: &Row) -> Vec<String> {
    let places: Vec<String> = row.contexts.names().iter().map(|name| name.replace(['<', '>'], "`")).collect();
    let words = row.contexts.override_words();
    let mut facts = vec![format!("Where: {}", places.join(", "))];
    if !row.aliases.is_empty() {
        facts.insert(0, format!("Also: {}", row.aliases.join(", ")));
    }
    if !words.is_empty() {
        facts.push(format!("In `.htaccess`: with `AllowOverride {words}`"));
    }
    facts.push(format!("Default: {} ({})", default(row, "`"), row.because));
    facts.push(format!("A change takes effect {}", row.effect.words()));
    facts
}

fn default(row: &Row, quote: &str) -> String {
    row.default.map_or_else(|| "none".to_owned(), |default| format!("{quote}{default}{quote}"))
}

/// The page cameleer.conf(5) of the manual, in roff.
pub fn man() -> String {
    let mut page = String::from(
        ".TH cameleer.conf 5 \"\" \"cameleer\" \"\"\n\
         .SH NAME\ncameleer.conf \\- directives of a configuration for \\fBcameleer serve\\fR\n\
         .SH DESCRIPTION\n",
    );
    page.push_str(&roff(LANGUAGE));
    page.push_str("\n.SH DIRECTIVES\n");
    for row in table::all() {
        page.push_str(&format!(".SS {}\n.nf\n\\fB{}\\fR\n.fi\n.PP\n", roff(row.name), roff(&row.syntax())));
        page.push_str(&format!("{}\n", roff(row.about)));
        for line in facts(row) {
            page.push_str(&format!(".br\n{}\n", roff(&line)));
        }
    }
    page.push_str(".SH SEE ALSO\ncameleer(8)\n");
    page
}

/// Text as roff: words between backticks in bold; no character of the text acts as a request or an escape.
fn roff(text: &str) -> String {
    let parts = text.split('`').map(|part| part.replace('\\', "\\e").replace('-', "\\-"));
    let bold = |(at, part): (usize, String)| if at % 2 == 0 { part } else { format!("\\fB{part}\\fR") };
    let text: String = parts.enumerate().map(bold).collect();
    let line = |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// One line for each directive: syntax and default.
pub fn summary() -> String {
    table::all().map(|row| format!("{:<60} {}\n", row.syntax(), default(row, ""))).collect()
}

/// The full text about one directive, or an error message for an unknown name.
pub fn entry(name: &str) -> Result<String, String> {
    let row = table::find(name).ok_or_else(|| {
        httpd_only::find(name, &[]).map_or_else(|| unknown::message(name, &mut 1), |(_, message)| message)
    })?;
    let places = row.contexts.names().join(", ");
    Ok(format!(
        "{}\n\n{}\n\nWhere:   {places}\nDefault: {} ({})\nA change takes effect {}\n",
        row.syntax(),
        row.about,
        default(row, ""),
        row.because,
        row.effect.words()
    ))
}

/// The message about a directive of httpd that is not supported, and whether it is ignored.
pub fn foreign(directive: &super::Directive) -> Option<(bool, String)> {
    let (fate, message) = httpd_only::find(&directive.name, &directive.args)?;
    Some((fate == httpd_only::Unsupported::Ignored, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_page_is_current() {
        crate::golden::compare("docs/reference/directives.md", &markdown());
    }

    #[test]
    fn the_man_page_has_a_section_for_each_directive_and_ends_each_bold_word() {
        let page = man();
        for row in table::all() {
            assert!(page.contains(&format!("\n.SS {}\n", row.name)), "{}", row.name);
            assert_eq!(row.about.matches('`').count() % 2, 0, "{}: an unclosed backtick", row.name);
        }
        assert_eq!(page.matches("\\fB").count(), page.matches("\\fR").count());
    }

    #[test]
    fn no_text_acts_as_a_roff_request_or_escape() {
        assert_eq!(roff(".htaccess: `-D` \\1\n'a"), "\\&.htaccess: \\fB\\-D\\fR \\e1\n\\&'a");
    }

    #[test]
    fn an_entry_is_found_by_any_of_its_names() {
        assert_eq!(entry("maxrequestworkers"), entry("MaxClients"));
        assert!(entry("MaxClient").is_err_and(|message| message.contains("MaxClients")));
    }
}
