//! Configuration texts: each is parsed, or every error has a position; no file is read.
#![no_main]

use std::io;

use config::parse::{self, ParserSource};
use config::{Config, Facts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| drop(parse::text(&String::from_utf8_lossy(bytes), "site.conf", &source())));
    match parse::text(&String::from_utf8_lossy(bytes), "site.conf", &source()) {
        Err(mistakes) => assert!(!mistakes.is_empty() && mistakes.iter().all(|mistake| mistake.at.is_some())),
        Ok(tree) => {
            let facts = Facts { server_root: "/srv".into(), ..Facts::default() };
            drop(Config::sketch(&tree, &facts));
            if let Ok(config) = Config::build(&tree, &facts) {
                assert!(!config.listen.is_empty() && !config.hosts.is_empty());
            }
        }
    }
});

fn source() -> ParserSource<'static> {
    ParserSource {
        defines: vec!["TEST".into()],
        read: &|_| Err(io::ErrorKind::NotFound.into()),
        exists: &|_| false,
        list: &|_| Err(io::ErrorKind::NotFound.into()),
        ..ParserSource::disk("/srv", &|name| (name == "HOME").then(|| "/home/camel".into()))
    }
}
