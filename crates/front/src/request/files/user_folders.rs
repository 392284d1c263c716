//! `UserDir` with several folders, or with folders in the homes of users: the first that exists, or else the last
//! (httpd manual, mod_userdir).

use std::path::{Path, PathBuf};
use std::rc::Rc;

use http::StatusCode;
use http::request::Parts;

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::place::settle_all;
use crate::routing::Route;
use crate::routing::redirect::refusal;
use base::path::Text;
use config::response::lookup::user_dir::UserFolder;
use config::response::redirect::RedirectResponse;

/// A path `/~name/…` for which folders are tried.
pub struct UserPath<'a> {
    folders: &'a [UserFolder],
    user: String,
    rest: String,
}

/// The user of a route's path, unless an alias, a backend or a rule has mapped the path.
pub fn of<'a>(context: &'a RequestContext, route: &Route) -> Option<UserPath<'a>> {
    let config = &context.generation.config;
    let users = config.hosts.get(usize::from(route.host))?.user_folders.as_ref()?;
    let path = Text::new(&route.path).0;
    let (user, rest) = users.user_of(&path)?;
    let is_mapped = route.by_rules || route.backend.is_some() || config.alias_of(route.host, &path).is_some();
    (!is_mapped).then_some(UserPath { folders: &users.folders, user, rest })
}

/// The route of a path in a folder of its user, or the redirect to a URL. A user without a folder has none: the route
/// stays as it is.
pub async fn find(
    context: &RequestContext,
    head: &Parts,
    route: Rc<Route>,
    of: UserPath<'_>,
) -> Result<Rc<Route>, Refusal> {
    let UserPath { folders, user, rest } = of;
    for (index, folder) in folders.iter().enumerate() {
        let is_last = index + 1 == folders.len();
        let at = match folder {
            UserFolder::Url(_) => match folder.filled(&user, &rest) {
                Some(url) => return Err(redirected(url)),
                None => continue,
            },
            UserFolder::Path(_) => folder.filled(&user, ""),
            UserFolder::InHome(name) => in_home(context, &route, &user, name).await?,
        };
        let Some(at) = at else { continue };
        if is_last || is_there(context, &at).await? {
            return settled(context, head, &route, &format!("{at}{rest}")).await;
        }
    }
    Ok(route)
}

/// As in httpd, the query is not appended.
fn redirected(url: String) -> Refusal {
    let answer =
        RedirectResponse { status: StatusCode::FOUND.as_u16(), location: Some(url), expr: None, of_host: true };
    refusal(&answer, None)
}

/// The folder of this name in the user's home, if the system has the user.
async fn in_home(context: &RequestContext, route: &Route, user: &str, name: &str) -> Result<Option<String>, Refusal> {
    match context.services.homes.of(user).await {
        Ok(home) => Ok(home.map(|home| format!("{home}/{name}"))),
        Err(error) => {
            context.log_error(route, &format_args!("UserDir: the home of user \"{}\": {error}", user.escape_debug()));
            Err(error.into())
        }
    }
}

async fn is_there(context: &RequestContext, folder: &str) -> Result<bool, Refusal> {
    let folder = Text::bytes_of(PathBuf::from(folder));
    let generation = &context.generation;
    generation.wait_for(|| Ok(generation.opener.is_there(&folder))).await
}

/// The route of the path with this file.
async fn settled(context: &RequestContext, head: &Parts, route: &Route, file: &str) -> Result<Rc<Route>, Refusal> {
    let file = Text::bytes_of(PathBuf::from(file));
    let generation = &context.generation;
    let there = generation.wait_for(|| generation.routes.at_alias(&generation.config, route, Path::new(&file), false));
    let there = there.await?;
    settle_all(context, head, &there).await?;
    Ok(there)
}
