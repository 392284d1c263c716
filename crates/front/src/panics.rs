//! Panics end the front. tokio would end only the panicking task, whether a client's or the one that reads the master's
//! messages, and no other part would notice. The master restarts a front that has died.

use std::panic::set_hook;
use std::process::abort;

use base::log;

/// Makes a panic in any task or thread log a line and abort the process.
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

    /// Environment variable that marks the child process.
    const MARK: &str = "CAMELEER_TEST_PANICS";

    #[test]
    fn a_panic_in_one_task_ends_the_process_and_logs_its_place() {
        if std::env::var_os(MARK).is_some() {
            abort_on_panic();
            let runtime = Builder::new_current_thread().build_local(LocalOptions::default()).expect("a runtime");
            runtime.block_on(async {
                let task = tokio::task::spawn_local(async { panic!("on purpose") });
                let _ = task.await;
            });
            std::process::exit(0);
        }
        let name = "panics::tests::a_panic_in_one_task_ends_the_process_and_logs_its_place";
        let mut again = Command::new(std::env::current_exe().expect("our own"));
        let ended = again.args(["--exact", name, "--nocapture"]).env(MARK, "1").output().expect("started");
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.signal(), Some(6), "{stderr}");
        assert!(stderr.contains("[front:crit]") && stderr.contains("crates/front/src/panics.rs:"), "{stderr}");
        assert!(stderr.contains("on purpose"), "{stderr}");
    }
}
