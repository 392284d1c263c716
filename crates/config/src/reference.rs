//! The table of directives as text: reference page, and help of `cameleer check --directives`.

use crate::table::row::Row;
use crate::table::{self, httpd_only, unknown};

/// docs/reference/directives.md
pub fn markdown() -> String {
    let mut page = String::from(
        "# Directives\n\n\
         <!-- Generated from crates/config/src/table/: CAMELEER_BLESS=1 cargo test --package config --lib -->\n\n\
         Apache's language and, where httpd has a directive for a thing, Apache's names and meanings. A duration is\n\
         `500ms`, `2s`, `5m` or `1h`, a bare number is seconds; a size is `64K`, `512M` or `2G`, a bare number is bytes.\n\
         Relative paths start at ServerRoot.\n\n",
    );
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
    let mut text = format!("\n## {}\n\n    {}\n\n{}\n\n", row.name, row.syntax(), row.about);
    if !row.aliases.is_empty() {
        text.push_str(&format!("- Also: {}\n", row.aliases.join(", ")));
    }
    let places: Vec<String> = row.contexts.names().iter().map(|name| name.replace(['<', '>'], "`")).collect();
    text.push_str(&format!("- Where: {}\n", places.join(", ")));
    let words = row.contexts.override_words();
    if !words.is_empty() {
        text.push_str(&format!("- In `.htaccess`: with `AllowOverride {words}`\n"));
    }
    text.push_str(&format!("- Default: {} ({})\n", default(row, "`"), row.because));
    text.push_str(&format!("- A change takes effect {}\n", row.effect.words()));
    text
}

fn default(row: &Row, quote: &str) -> String {
    row.default.map_or_else(|| "none".to_owned(), |default| format!("{quote}{default}{quote}"))
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
    fn an_entry_is_found_by_any_of_its_names() {
        assert_eq!(entry("maxrequestworkers"), entry("MaxClients"));
        assert!(entry("MaxClient").is_err_and(|message| message.contains("MaxClients")));
    }
}
