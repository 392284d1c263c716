//! What a refork would share.

use wire::control::Inspection;

use crate::mem::urls::Urls;
use master::loaded::{CodeKind, LoadedCode, late};
use master::sockets::control_socket::SelfReport;
use toolkit::client::Server;

/// Maximum number of paths, and of modules, in a message.
pub const NAMED: usize = 3;

/// Code and data that workers have for themselves.
#[derive(Debug, Clone, Default)]
pub struct ReforkEvidence {
    /// Paths whose requests made workers grow most, and by how many bytes.
    pub paths: Vec<(String, u64)>,
    /// Modules, by the names that programs use, and scripts, which workers have loaded since the fork.
    pub code: Vec<String>,
}

impl ReforkEvidence {
    /// Asks the workers. What cannot be asked is empty.
    pub fn gather(server: &mut Server) -> ReforkEvidence {
        let urls = Urls::of(server).ok();
        let paths = urls.iter().flat_map(|urls| urls.largest(NAMED)).map(|(path, grown)| (path.to_owned(), grown));
        ReforkEvidence { paths: paths.collect(), code: late_code(server).unwrap_or_default() }
    }
}

fn late_code(server: &mut Server) -> Option<Vec<String>> {
    let reports = server.inspect(Inspection::Loaded).ok()?;
    let mold: LoadedCode = reports.iter().find(|one| one.worker.is_none()).and_then(SelfReport::read)?;
    let workers: Vec<LoadedCode> =
        reports.iter().filter(|one| one.worker.is_some()).filter_map(SelfReport::read).collect();
    let mut code: Vec<(usize, CodeKind, String)> =
        late(&mold, &workers).into_iter().map(|((kind, name), count)| (count, kind, name)).collect();
    code.sort_by_key(|(count, kind, name)| (std::cmp::Reverse(*count), *kind, name.matches('/').count(), name.clone()));
    let shown = code.into_iter().map(|(_, kind, name)| match kind {
        CodeKind::Module => name.trim_end_matches(".pm").replace('/', "::"),
        CodeKind::Script => name,
    });
    Some(shown.collect())
}
