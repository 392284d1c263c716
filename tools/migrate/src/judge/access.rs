//! Lines that keep visitors out. Where one cannot stay, its place is closed: a move must not open what was closed.

/// Directives that restrict visitors, by the beginning of their names.
const BEGINNINGS: &[&str] = &[
    "auth",
    "require",
    "deny",
    "allow",
    "order",
    "satisfy",
    "anonymous",
    "sslverifyclient",
    "sslrequire",
    "luahookaccess",
    "luahookauth",
    "luahookcheck",
    "luaauthz",
    "fcgidaccess",
    "fcgidauth",
    "fastcgiaccess",
    "fastcgiauth",
    "mellonenable",
    "melloncond",
    "mellonrequire",
    "qs_deny",
    "qs_permit",
    "secrule",
    "secaction",
    "secfilter",
];
/// Directives with a name that begins as in [`BEGINNINGS`], but which restrict nobody.
const HARMLESS: &[&str] = &[
    "allowoverride",
    "allowencodedslashes",
    "allowconnect",
    "allowoverridelist",
    "secruleremovebyid",
    "secruleremovebymsg",
    "secruleremovebytag",
    "secfilterremove",
];
/// Sections whose only contents are `Require` lines.
const OF_REQUIRE: [&str; 3] = ["requireall", "requireany", "requirenone"];
/// Refuses every request of its place, whatever other lines allow.
pub const CLOSED: &str = "RedirectMatch 403 ^";

/// Whether a directive or section of this name restricts visitors.
pub fn restricts(name: &str) -> bool {
    let name = name.trim_matches(['<', '>', '/']).to_ascii_lowercase();
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) && !HARMLESS.contains(&name.as_str())
}

/// The lines instead of one that cannot stay; `None` if its absence opens nothing. `around` are the sections, in lower
/// case.
pub fn instead_of(name: &str, args: &[String], around: &[String]) -> Option<Vec<String>> {
    let name = name.to_ascii_lowercase();
    if name == "require" {
        let is_inverted = around.iter().filter(|section| *section == "requirenone").count() % 2 == 1;
        return Some(vec![if is_inverted { "Require all granted" } else { "Require all denied" }.to_owned()]);
    }
    let is_optional =
        name == "sslverifyclient" && args.first().is_none_or(|word| !word.eq_ignore_ascii_case("require"));
    let is_of_requests = name.starts_with("ssl") || around.iter().any(|section| section != "virtualhost");
    let closes = restricts(&name) && !is_optional && is_of_requests;
    (closes && !around.iter().any(|section| OF_REQUIRE.contains(&section.as_str()))).then(|| vec![CLOSED.to_owned()])
}

/// The sections around a line that applies at several places, and whether the places disagree about what a line of
/// access means there. Without a place, the line counts as one of a location.
pub fn united(places: &[Vec<String>]) -> (Vec<String>, bool) {
    let has = |around: &Vec<String>, name: &str| around.iter().any(|section| section == name);
    let meaning = |around| (has(around, OF_REQUIRE[2]), OF_REQUIRE.iter().any(|name| has(around, name)));
    let Some(first) = places.first() else { return (vec!["location".to_owned()], true) };
    let is_disputed = places.iter().any(|around| meaning(around) != meaning(first));
    let mut all = first.clone();
    for section in places.iter().flatten() {
        if !all.contains(section) {
            all.push(section.clone());
        }
    }
    if is_disputed {
        all.retain(|section| !OF_REQUIRE.contains(&section.as_str()));
    }
    (all, is_disputed)
}

/// Refuses files by the endings of their names. Without endings, and within `<Files>`, all files of the place are
/// refused.
pub fn without_files(endings: &[String], around: &[String]) -> Vec<String> {
    if endings.is_empty() || around.iter().any(|section| section.starts_with("files")) {
        return vec![CLOSED.to_owned()];
    }
    let endings: Vec<String> = endings.iter().map(|ending| escaped(ending.trim_start_matches('.'))).collect();
    vec![
        format!("<FilesMatch \"\\.(?:{})(?:\\.|$)\">", endings.join("|")),
        "Require all denied".to_owned(),
        "</FilesMatch>".to_owned(),
    ]
}

fn escaped(ending: &str) -> String {
    ending.chars().map(|c| if c.is_alphanumeric() { c.to_string() } else { format!("\\{c}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instead(name: &str, arg: &str, around: &[&str]) -> String {
        let around: Vec<String> = around.iter().map(|name| (*name).to_owned()).collect();
        instead_of(name, &[arg.to_owned()], &around).unwrap_or_default().join("; ")
    }

    #[test]
    fn a_restriction_that_cannot_stay_closes_its_place() {
        assert_eq!(instead("AuthFormProvider", "file", &["location"]), CLOSED);
        assert_eq!(instead("SSLVerifyClient", "require", &["virtualhost"]), CLOSED);
        assert_eq!(instead("SSLVerifyClient", "optional", &["virtualhost"]), "");
        assert_eq!(instead("AuthFormLocation", "x", &["virtualhost"]), "");
        assert_eq!(instead("Require", "external-group", &["location", "requireany"]), "Require all denied");
        assert_eq!(instead("Require", "external-group", &["location", "requirenone"]), "Require all granted");
        assert_eq!(
            instead("Require", "x", &["location", "requirenone", "requireall", "requirenone"]),
            "Require all denied"
        );
        assert_eq!(instead("AllowOverrideList", "x", &["directory"]), "");
        assert_eq!(instead("Substitute", "x", &["location"]), "");
    }

    #[test]
    fn places_are_united_and_may_disagree() {
        let places = |all: &[&str]| -> Vec<Vec<String>> {
            all.iter().map(|around| around.split_whitespace().map(str::to_owned).collect()).collect()
        };
        let united = |all: &[&str]| {
            let (around, is_disputed) = united(&places(all));
            (around.join(" "), is_disputed)
        };
        assert_eq!(united(&["", "virtualhost location"]), ("virtualhost location".to_owned(), false));
        assert_eq!(united(&["location requirenone"; 2]), ("location requirenone".to_owned(), false));
        assert_eq!(united(&["location requirenone", "location"]), ("location".to_owned(), true));
        assert_eq!(united(&[]), ("location".to_owned(), true));
    }

    #[test]
    fn files_are_refused_by_their_endings() {
        let endings = [".php".to_owned(), "c++".to_owned()];
        assert_eq!(without_files(&endings, &[])[0], "<FilesMatch \"\\.(?:php|c\\+\\+)(?:\\.|$)\">");
    }
}
