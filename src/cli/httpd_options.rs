//! Options of httpd and apachectl without a command: `cameleer -t -f site.conf` is `cameleer serve -t -f site.conf`.

use std::ffi::OsString;

/// Options of httpd that no other program of the field has as its first one.
const HTTPD: [&str; 7] = ["-t", "-S", "-k", "-X", "-f", "-d", "-T"];
/// Options of httpd that take a value in plackup: they are httpd's when they stand alone.
const ALONE: [&str; 3] = ["-M", "-l", "-L"];

/// Inserts `serve` before options of httpd.
pub fn with_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let first = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let dumps = words.get(2).is_some_and(|word| word.to_string_lossy().starts_with("DUMP_"));
    let is_httpds = HTTPD.contains(&first)
        || (ALONE.contains(&first) && words.len() == 2)
        || first.starts_with("-DDUMP_")
        || (first == "-D" && dumps);
    if is_httpds {
        words.insert(1, "serve".into());
    }
    words
}

#[cfg(test)]
mod tests {
    fn read(line: &str) -> String {
        let words = line.split(' ').map(Into::into).collect();
        super::with_command(words).iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_of_httpd_belong_to_serve() {
        for line in
            ["-t", "-S -f a.conf", "-t -D DUMP_VHOSTS", "-D DUMP_MODULES", "-DDUMP_VHOSTS", "-M", "-l", "-k stop"]
        {
            assert_eq!(read(&format!("cameleer {line}")), format!("cameleer serve {line}"));
        }
    }

    #[test]
    fn options_of_plackup_stay_as_they_are() {
        for line in [
            "cameleer -M Plack::App",
            "cameleer -l :80",
            "cameleer -p 80",
            "cameleer -v",
            "cameleer run -D",
            "cameleer",
        ] {
            assert_eq!(read(line), line);
        }
    }
}
