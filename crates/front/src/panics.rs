//! A panic is a mistake of ours in one of many tasks. tokio would end that task alone, be it one client's or the one that
//! hears the master, and nobody would know. The master knows what to do about a front that has died.

use std::panic::set_hook;
use std::process::abort;

use base::log;

/// From now on a panic, in whatever task or thread, is a line in the error log and the end of this process.
pub fn abort_on_panic() {
    set_hook(Box::new(|panic| {
        log::crit("front", format_args!("this is a bug in Cameleer, please report it: {panic}"));
        abort()
    }));
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use tokio::runtime::{Builder, LocalOptions};

    use super::*;

    /// Set in the process that is to end.
    const MARK: &str = "CAMELEER_TEST_PANICS";

    #[test]
    fn a_panic_in_one_task_ends_the_process_and_says_where() {
        if std::env::var_os(MARK).is_some() {
            abort_on_panic();
            let runtime = Builder::new_current_thread().build_local(LocalOptions::default()).expect("a runtime");
            runtime.block_on(async {
                let task = tokio::task::spawn_local(async { panic!("on purpose") });
                let _ = task.await;
            });
            std::process::exit(0);
        }
        let name = "panics::tests::a_panic_in_one_task_ends_the_process_and_says_where";
        let mut again = Command::new(std::env::current_exe().expect("our own"));
        let ended = again.args(["--exact", name, "--nocapture"]).env(MARK, "1").output().expect("started");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.signal(), Some(6), "{said}");
        assert!(said.contains("[front:crit]") && said.contains("crates/front/src/panics.rs:"), "{said}");
        assert!(said.contains("on purpose"), "{said}");
    }
}
