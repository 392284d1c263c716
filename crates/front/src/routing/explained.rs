//! Computes the route of a request that is not sent.

use std::rc::Rc;
use std::sync::Arc;

use tokio::task::LocalSet;

use super::{Route, RouteKey, Routes, once_read};
use crate::base::address::Address;
use config::Config;

/// The route of a request at `local` for this host and path. Reads `.htaccess` files. The inner error is the status of
/// a refusal.
pub fn route_of(
    config: &Arc<Config>,
    local: &Address,
    host: &str,
    path: &str,
) -> anyhow::Result<Result<Rc<Route>, u16>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = LocalSet::new().block_on(&runtime, async {
        let routes = Routes::new(config);
        once_read(&routes, || routes.find(config, RouteKey { local, host, path })).await
    });
    Ok(found.map_err(|refusal| refusal.status.as_u16()))
}

/// The route with these `<If>` sections.
pub fn with_branches(config: &Arc<Config>, route: &Route, branches: Vec<u16>) -> anyhow::Result<Rc<Route>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(LocalSet::new().block_on(&runtime, async { Routes::new(config).with_branches(config, route, branches) }))
}
