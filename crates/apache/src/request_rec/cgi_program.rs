//! The environment of a CGI program: RFC 3875's variables, httpd's additions, and variables that the
//! configuration and earlier phases have set. Nothing in it reveals embedded Perl.

use std::collections::BTreeMap;

use super::RequestRec;
use super::environment::of_cgi;
use super::tables::Id;
use wire::frame::Flags;

/// `PATH` when the configuration sets none; httpd's own default begins with these folders.
const PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Variables of the server's own environment that CGI programs get, as in httpd.
const HANDED_ON: [&[u8]; 3] = [b"PATH", b"LD_LIBRARY_PATH", b"TZ"];

/// Names and values, sorted.
pub type VariableList = BTreeMap<Vec<u8>, Vec<u8>>;

/// Whether programs get this variable of the environment that start-up code has left.
pub fn is_handed_on(name: &[u8]) -> bool {
    HANDED_ON.contains(&name)
}

pub(crate) fn variables(r: &mut RequestRec) -> VariableList {
    r.ran_program = true;
    let mut all = VariableList::from([(b"PATH".to_vec(), PATH.to_vec())]);
    let mut put = |name: &[u8], value: &[u8]| drop(all.insert(name.to_vec(), value.to_vec()));
    let place = r.place.clone();
    for (name, value) in place.start_env.iter().filter(|(name, _)| is_handed_on(name)) {
        put(name, value);
    }
    put(b"REQUEST_SCHEME", if r.frame.flags().has(Flags::HTTPS) { b"https" } else { b"http" });
    put(b"SERVER_SIGNATURE", b"");
    if !place.path.is_empty() {
        put(b"PATH", place.path.as_bytes());
    }
    if place.setup_env && r.tables.is_filled(Id::SubprocessEnv) {
        // Earlier phases have filled, and perhaps changed, the table.
        r.tables.of(Id::SubprocessEnv).iter().for_each(|(name, value)| put(name, value));
    } else {
        of_cgi(r, &mut put);
        place.set_env.iter().for_each(|(name, value)| put(name.as_bytes(), value.as_bytes()));
    }
    put(b"GATEWAY_INTERFACE", b"CGI/1.1");
    all.retain(|name, _| !name.starts_with(b"MOD_PERL"));
    all
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;
    use crate::PlaceConfig;

    fn value<'a>(all: &'a VariableList, name: &str) -> Option<&'a str> {
        all.get(name.as_bytes()).map(|value| std::str::from_utf8(value).expect("text"))
    }

    #[test]
    fn a_program_gets_cgi_1_1_variables_and_no_mod_perl() {
        for (setup_env, looks) in [(true, false), (true, true), (false, false), (false, true)] {
            let place = PlaceConfig {
                setup_env,
                set_env: vec![("X".into(), "y".into()), ("MOD_PERL".into(), "set".into())],
                start_env: [(b"PATH".to_vec(), b"/own".to_vec()), (b"SECRET".to_vec(), b"s".to_vec())].into(),
                ..Default::default()
            };
            let mut r = record(place, "/cgi/a.pl/more", &[(b"host", b"example.org")], Some(9));
            if looks {
                r.table(Id::SubprocessEnv as u32);
            }
            let all = variables(&mut r);
            for (name, wanted) in [
                ("GATEWAY_INTERFACE", "CGI/1.1"),
                ("SCRIPT_NAME", "/cgi/a.pl"),
                ("PATH_INFO", "/more"),
                ("HTTP_HOST", "example.org"),
                ("REQUEST_SCHEME", "http"),
                ("PATH", "/own"),
                ("X", "y"),
            ] {
                assert_eq!(value(&all, name), Some(wanted), "{name} with {setup_env} {looks}");
            }
            for name in ["MOD_PERL", "MOD_PERL_API_VERSION", "SECRET"] {
                assert_eq!(value(&all, name), None, "{name} with {setup_env} {looks}");
            }
        }
    }
}
