//! Opens a page in a browser.

use std::process::{Command, Stdio};

use anyhow::Context;

use toolkit::conf::environment;

/// Starts `$BROWSER`, a list of commands separated by colons, or xdg-open.
pub fn open(url: &str) -> anyhow::Result<()> {
    let named = environment("BROWSER").map(|list| list.to_string_lossy().into_owned());
    let first = named.as_deref().and_then(|list| list.split(':').find(|command| !command.is_empty()));
    let words = words(first.unwrap_or("xdg-open"), url);
    let (program, arguments) = words.split_first().context("$BROWSER is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    sys::with_signals_unblocked(&mut command);
    let mut child = command.spawn().with_context(|| format!("{program} cannot be started"))?;
    // A browser may run for hours; the thread only reaps it.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// The words of a command, in which `%s` is the URL; without one it comes last.
fn words(command: &str, url: &str) -> Vec<String> {
    let mut words: Vec<String> = command.split_whitespace().map(|word| word.replace("%s", url)).collect();
    if !command.contains("%s") {
        words.push(url.to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn the_url_stands_where_the_command_wants_it() {
        assert_eq!(words("firefox", "http://a/"), ["firefox", "http://a/"]);
        assert_eq!(words("lynx -x %s -y", "http://a/"), ["lynx", "-x", "http://a/", "-y"]);
    }
}
