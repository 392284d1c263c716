//! Where a request would lead, for those who ask without sending it.

use std::rc::Rc;
use std::sync::Arc;

use tokio::task::LocalSet;

use super::{Asked, Route, Routes, once_read};
use crate::base::address::Address;
use config::Config;

/// The route of a request that arrives at `local` for this host and path; `.htaccess` files are read. An error is the status with
/// which it would be refused.
pub fn route_of(
    config: &Arc<Config>,
    local: &Address,
    host: &str,
    path: &str,
) -> anyhow::Result<Result<Rc<Route>, u16>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = LocalSet::new().block_on(&runtime, async {
        let routes = Routes::new(config);
        once_read(&routes, || routes.find(config, Asked { local, host, path })).await
    });
    Ok(found.map_err(|refusal| refusal.status.as_u16()))
}
