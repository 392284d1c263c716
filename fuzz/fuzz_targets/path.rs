//! Request paths: each has one canonical form, which is stable, and a file below the configured folders.
#![no_main]

use std::os::unix::ffi::OsStrExt;
use std::path::Component;

use config::parse::{self, ParserSource};
use config::{Config, Facts};
use base::path::{Text, normalise, ways};
use libfuzzer_sys::fuzz_target;

const SITE: &str = "Listen 80\nDocumentRoot /srv/www\nAlias /docs /srv/docs\nAlias /icons/ /srv/icons/\n\
                    AliasMatch ^/m(.*) /srv/m/$1\nAliasMatch ^/~([^/]+)(.*) /home/$1/public$2\n\
                    <Files ~ \"^a.*b\">\nForceType a/b\n</Files>\n<LocationMatch \"/x.*/y.*/z\">\nForceType a/b\n</LocationMatch>";

thread_local!(static CONFIG: Config = {
    let tree = parse::text(SITE, "site.conf", &ParserSource::disk("/", &|_| None)).expect("understood");
    Config::build(&tree, &Facts { server_root: "/".into(), ..Facts::default() }).expect("a configuration")
});

fuzz_target!(|raw: &[u8]| {
    slope::watch(raw, lead);
    let Ok(path) = normalise(raw) else { return };
    assert!(path.starts_with(b"/") && !path.contains(&0));
    let inner: Vec<&[u8]> = path[1..].split(|byte| *byte == b'/').collect();
    assert!(inner.iter().rev().skip(1).all(|segment| !segment.is_empty()));
    assert!(inner.iter().all(|segment| *segment != b"." && *segment != b".."));
    let again: Vec<u8> = path.iter().flat_map(|byte| if *byte == b'/' { vec![*byte] } else { format!("%{byte:02X}").into_bytes() }).collect();
    assert_eq!(normalise(&again).as_ref(), Ok(&path));

    let text = Text::new(&path);
    assert_eq!(Text::bytes_in(&text.0), path);
    let file = Text::bytes_of(CONFIG.with(|config| config.translate(0, &text.0, None).filename));
    assert!(["/srv/www", "/srv/docs", "/srv/icons", "/srv/m", "/home"].iter().any(|root| file.starts_with(root)));
    assert!(!file.components().any(|part| part == Component::ParentDir));
    assert!(!file.as_os_str().as_bytes().contains(&0));
});

/// The front's steps with a path before it accesses the disk.
fn lead(raw: &[u8]) {
    let Ok(path) = normalise(raw) else { return };
    let text = Text::new(&path);
    CONFIG.with(|config| {
        let file = Text::bytes_of(config.translate(0, &text.0, None).filename);
        drop(config.sections(0, &text.0, &file));
        ways(file.as_os_str().as_bytes(), 0).for_each(drop);
    });
}
