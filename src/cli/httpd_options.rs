//! Options of httpd and apachectl without a command: `cameleer -t -f site.conf` is `cameleer serve -t -f site.conf`.

use std::ffi::OsString;

/// Options of httpd that no other program of the field has as its first one.
const HTTPD: [&str; 7] = ["-t", "-S", "-k", "-X", "-f", "-d", "-T"];
/// Options of httpd that take a value in plackup: they are httpd's when nothing or a further option of httpd follows.
const WITHOUT_VALUE: [&str; 3] = ["-M", "-l", "-L"];
/// Further options of httpd that may stand behind those.
const FURTHER: [&str; 5] = ["-D", "-C", "-c", "-e", "-E"];

/// Inserts `serve` before options of httpd.
pub fn with_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let first = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    // A word that is not UTF-8 is no option.
    let second = words.get(2).map(|word| word.to_str().unwrap_or_default());
    let dumps = second.is_some_and(|word| word.starts_with("DUMP_"));
    let has_no_value = second.is_none_or(|word| HTTPD.contains(&word) || FURTHER.contains(&word));
    let is_httpds = HTTPD.contains(&first)
        || (WITHOUT_VALUE.contains(&first) && has_no_value)
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
        for line in [
            "-t",
            "-S -f a.conf",
            "-t -D DUMP_VHOSTS",
            "-D DUMP_MODULES",
            "-DDUMP_VHOSTS",
            "-M",
            "-M -f a.conf",
            "-l",
            "-l -c KeepAlive",
            "-k stop",
        ] {
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
