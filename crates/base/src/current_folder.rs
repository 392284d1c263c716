//! Files that scripts require by a bare name, as `require "common.pl"`. Perl has searched the current folder for them
//! until 5.24 (perl5260delta, "Removal of the current directory from @INC").

/// The remedy, for messages.
pub const REMEDY: &str = "Perl does not search the script's folder since 5.26; write \"./\" before the name, add the folder with use lib, \
     or set PERL_USE_UNSAFE_INC=1 with SetEnv where scripts run as programs";

/// The name of a file that perl's error message misses because it does not search the current folder. `None` for other
/// messages, also about modules.
pub fn missing(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("Can't locate ")?;
    let (name, _) = rest.split_once(" in @INC")?;
    is_bare(name).then_some(name)
}

/// Whether perl searches the folders of `@INC` for this file, and it is no module.
pub fn is_bare(name: &str) -> bool {
    let is_path = name.starts_with('/') || name.starts_with("./") || name.starts_with("../");
    let is_word = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "$@'\"".contains(c));
    is_word && !is_path && !name.ends_with(".pm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_current_folder_are_missed_and_modules_are_not() {
        for (message, name) in [
            ("Can't locate common.pl in @INC (@INC contains: /etc/perl) at a.cgi line 2.", Some("common.pl")),
            (
                "Can't locate sub/my-lib.pl in @INC (@INC entries checked: /etc/perl) at a.cgi line 2.",
                Some("sub/my-lib.pl"),
            ),
            ("Can't locate CGI/Foo.pm in @INC (you may need to install the CGI::Foo module)", None),
            ("Can't locate ./common.pl at a.cgi line 2.", None),
            ("Can't locate object method \"x\" via package \"Y\" in @INC", None),
            ("syntax error at a.cgi line 2", None),
        ] {
            assert_eq!(missing(message), name, "{message}");
        }
    }
}
