//! Tests which changes in a folder invalidate stored routes.

use std::fs;
use std::time::Duration;

use tokio::task::LocalSet;

use super::*;
use config::{
    Facts,
    parse::{self, ParserSource},
};

const PATIENCE: Duration = Duration::from_secs(10);

fn config() -> Arc<Config> {
    let text = "Listen 80\n<Directory />\nAllowOverride All\n</Directory>\n";
    let tree = parse::text(text, "test", &ParserSource::disk("/", &|_| None)).expect("directives");
    Arc::new(Config::build(&tree, &Facts { server_root: "/".into(), ..Facts::default() }).expect("a configuration"))
}

/// Runs `act` with a store, on an event loop that receives inotify events.
fn listening(act: impl AsyncFnOnce(&HtaccessStore)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let store = async || act(&HtaccessStore::new(&config()).expect("a store")).await;
    LocalSet::new().block_on(&runtime, store());
}

async fn until_changed(store: &HtaccessStore, known: u64) {
    let changed = async {
        while store.changes() == known {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, changed).await.expect("a change");
}

#[test]
fn only_folders_that_a_lookup_has_read_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    listening(async |store| {
        let config = config();
        let chain = async || {
            let sections = config.sections(0, "/", folder.path());
            loop {
                match store.chain(0, &sections, &folder.path().join("wanted/a")) {
                    Ok(chain) => return chain,
                    Err(unread) => store.read(unread, None).await.expect("a thread"),
                }
            }
        };
        assert!(chain().await.files.is_empty());
        let before = store.changes();
        for other in ["b", "c", "d"] {
            fs::create_dir(folder.path().join(other)).expect("a folder");
            fs::remove_dir(folder.path().join(other)).expect("removed");
        }
        fs::create_dir(folder.path().join("wanted")).expect("a folder");
        until_changed(store, before).await;
        assert_eq!(store.changes(), before + 1, "the others were nobody's business");
        fs::write(folder.path().join("wanted/.htaccess"), "DefaultType text/plain\n").expect("written");
        assert_eq!(chain().await.files.len(), 1);
        let before = store.changes();
        fs::remove_dir_all(folder.path().join("wanted")).expect("removed");
        until_changed(store, before).await;
        assert!(chain().await.files.is_empty());
    });
}
