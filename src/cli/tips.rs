//! Tips for options and commands of other servers. clap's own tips compare spellings, which would lead from
//! `--server` to `--user`.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Subcommand, options, and replacement. Options of `run` are spelled as in plackup, Starman, Starlet, uWSGI,
/// hypnotoad and puma; options of `serve` as in httpd, nginx and `run`.
const OPTIONS: &[(&str, &str, &str)] = &[
    ("run", "-s --server", "Cameleer is the server; omit it"),
    ("run", "-L --loader", "the program is always loaded before the fork; omit it"),
    ("run", "--Reload", "-R DIR: reload after changes below DIR"),
    ("run", "--restarter", "-r: reload after each change"),
    ("run", "--no-default-middleware", "Cameleer adds no middleware; omit it"),
    ("run", "--disable-proctitle", "omit it; ps shows `cameleer: worker 0`"),
    ("run", "-w --processes", "--workers N"),
    ("run", "--max-conns", "--workers N: a worker answers one request at a time"),
    ("run", "-b --bind --http --http-socket --socket --address", "--listen WHERE"),
    ("run", "--psgi", "cameleer run app.psgi: give only the file"),
    ("run", "-f -c --config", "cameleer serve -f FILE: a configuration"),
    ("run", "-d", "-D"),
    ("run", "--daemon --background", "--daemonize"),
    ("run", "--foreground", "the server runs in the foreground by default; omit it"),
    ("run", "-k", "cameleer stop, cameleer reload, or cameleer serve -k VERB"),
    ("run", "-t", "cameleer check app.psgi"),
    ("run", "--stop", "cameleer stop"),
    ("run", "--pid-file --pidfile", "--pid FILE"),
    ("run", "--log", "--error-log FILE or --access-log FILE"),
    ("run", "--logto", "--error-log FILE"),
    ("run", "--include --lib", "-I DIR"),
    ("run", "--environment", "-E NAME"),
    ("run", "--max-reqs", "--max-requests N"),
    ("run", "--min-reqs-per-child", "--max-requests N-M"),
    ("run", "--enable-ssl --ssl", "--tls, or SSLCertificateFile in a configuration"),
    ("run", "--ssl-cert", "-C 'SSLEngine On' -C 'SSLCertificateFile FILE', or --tls for development"),
    ("run", "--ssl-key", "-C 'SSLCertificateKeyFile FILE', or --tls for development"),
    ("run", "--backlog", "-C 'ListenBacklog 511'"),
    ("run", "--keepalive-timeout", "-C 'KeepAliveTimeout 30'"),
    ("run", "--max-keepalive-reqs", "-C 'MaxKeepAliveRequests 100'"),
    ("run", "--disable-keepalive", "-C 'KeepAlive Off'"),
    ("run", "--read-timeout", "-C 'RequestReadTimeout header=20 body=20'"),
    ("run", "--timeout", "-C 'RequestTimeout 60'"),
    ("run", "--chdir", "change to that folder first (cd)"),
    ("run", "--master", "the master always exists; omit it"),
    ("serve", "-p --listen --port", "-c 'Listen 8080'"),
    ("serve", "--host", "-c 'Listen 127.0.0.1:8080'"),
    ("serve", "--workers", "-c 'MaxClients 5'"),
    ("serve", "--max-requests", "-c 'MaxRequestsPerChild 10000'"),
    ("serve", "--user", "-c 'User NAME'"),
    ("serve", "--group", "-c 'Group NAME'"),
    ("serve", "--pid --pid-file", "-c 'PidFile FILE'"),
    ("serve", "--error-log -E", "-c 'ErrorLog FILE'"),
    ("serve", "--access-log", "-c 'CustomLog FILE combined'"),
    ("serve", "--log-level -e", "-c 'LogLevel info'"),
    ("serve", "--tls", "SSLCertificateFile in the configuration"),
    ("serve", "-I", "-c 'PerlLib DIR'"),
    ("serve", "--daemonize", "-k start"),
    ("serve", "--config", "-f FILE"),
    ("serve", "-s", "-k VERB: start, stop, restart, graceful or graceful-stop"),
    ("serve", "-T", "omit it: a missing DocumentRoot is no error"),
    ("serve", "-L", "cameleer check --directives"),
    ("serve", "--stop", "-k stop"),
    ("serve", "--reload", "-k graceful"),
    ("check", "-t", "cameleer check does that; omit it"),
    ("status", "--pid -p", "--pid-file FILE"),
    ("reload", "--pid -p", "--pid-file FILE"),
    ("stop", "--pid -p", "--pid-file FILE"),
    ("purge", "--pid -p", "--pid-file FILE"),
    ("purge", "-a", "--all"),
    ("stop", "--force --now", "--fast"),
];

/// Words typed instead of a subcommand, and their replacements.
const COMMANDS: &[(&str, &str)] = &[
    ("start", "cameleer serve -k start, or cameleer run -D app.psgi"),
    ("restart", "cameleer reload"),
    ("graceful", "cameleer reload"),
    ("quit", "cameleer stop"),
    ("configtest", "cameleer check -f FILE"),
    ("test", "cameleer check -f FILE"),
];

/// Returns `error` with a better tip, if there is one.
pub fn improve(mut error: clap::Error, arguments: &[String]) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            let command = arguments.get(1).map(String::as_str).unwrap_or_default();
            tip_for_argument(command, &text(ContextKind::InvalidArg))
        }
        ErrorKind::InvalidSubcommand => tip_for_command(&text(ContextKind::InvalidSubcommand)),
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![format!("here: {tip}").into()]));
    }
    error
}

fn tip_for_argument(command: &str, argument: &str) -> Option<String> {
    let name = argument.split('=').next().unwrap_or_default();
    let is_meant = |of: &str, options: &str| of == command && options.split(' ').any(|option| option == name);
    if let Some((.., tip)) = OPTIONS.iter().find(|(of, options, _)| is_meant(of, options)) {
        return Some((*tip).to_owned());
    }
    match command {
        // An option without a subcommand, as for plackup.
        option if option.starts_with('-') => Some(format!("cameleer run {option}")),
        "serve" if !argument.starts_with('-') => Some(format!("cameleer serve -f {argument}")),
        _ => None,
    }
}

fn tip_for_command(word: &str) -> Option<String> {
    if let Some((_, tip)) = COMMANDS.iter().find(|(name, _)| *name == word) {
        return Some((*tip).to_owned());
    }
    if word.ends_with(".conf") {
        return Some(format!("cameleer serve -f {word}"));
    }
    let is_program = [".psgi", ".pl", ".cgi", "/"].iter().any(|end| word.ends_with(end));
    is_program.then(|| format!("cameleer run {word}"))
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::{CommandFactory, Parser};

    fn advice_of(line: &str) -> String {
        let words: Vec<String> = format!("cameleer {line}").split(' ').map(str::to_owned).collect();
        improve(Cli::try_parse_from(&words).expect_err("wrong"), &words).to_string()
    }

    #[test]
    fn an_option_of_another_server_gets_a_tip_with_ours() {
        for (line, tip) in [
            ("run --server Starman", "here: Cameleer is the server"),
            ("run -s Starman", "here: Cameleer is the server"),
            ("run --bind :80", "here: --listen WHERE"),
            ("run --bind=:80", "here: --listen WHERE"),
            ("run -w 4", "here: --workers N"),
            ("run --worker 4", "'--workers'"),
            ("run --max-request 4", "'--max-requests'"),
            ("serve --port 80", "here: -c 'Listen 8080'"),
            ("serve site.conf", "here: cameleer serve -f site.conf"),
            ("-p 80", "here: cameleer run -p"),
            ("app.psgi", "here: cameleer run app.psgi"),
            ("start", "here: cameleer serve -k start"),
            ("stauts", "'status'"),
            ("stop --pid x", "here: --pid-file FILE"),
        ] {
            let advice = advice_of(line);
            assert!(advice.contains(tip), "{line}: {advice}");
            assert_eq!(advice.matches("tip:").count(), 1, "{line}: {advice}");
        }
    }

    /// Options that exist need no tip.
    #[test]
    fn tips_are_only_about_options_that_do_not_exist() {
        let cli = Cli::command();
        let each =
            OPTIONS.iter().flat_map(|(command, options, _)| options.split(' ').map(move |option| (command, option)));
        for (command, option) in each {
            let command = cli.find_subcommand(command).expect("a subcommand");
            let has = command.get_arguments().any(|argument| {
                let long = argument.get_long_and_visible_aliases().unwrap_or_default();
                let short = argument.get_short_and_visible_aliases().unwrap_or_default();
                long.iter().any(|name| option == format!("--{name}")) || short.iter().any(|c| option == format!("-{c}"))
            });
            assert!(!has, "{} has {option}", command.get_name());
        }
    }
}
