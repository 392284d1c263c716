//! Configuration that Perl code adds to its own request: `$r->add_config`, `$r->location_merge`.

use apache::AddedLines;

use crate::location::LocationKey;
use crate::request::phases::PhaseEnd;
use crate::request::resolve::moved;
use crate::site::Site;

const NOT_NOW: &str = "the location of a request can be changed only by its phases";

/// Adds configuration lines, if they are allowed at this place.
pub(super) fn add_lines(site: &Site, request: u64, lines: &AddedLines) -> Result<(), String> {
    site.locations.read_added(lines)?;
    renew(site, request, |key| key.added.push(lines.clone()))
}

/// Merges the sections of a `<Location>` over all others. Returns whether there is such a location.
pub(super) fn merge_location(site: &Site, request: u64, path: &str) -> Result<bool, String> {
    let sections = site.config.sections_of_location(apache::requested(request).host, path);
    if sections.is_empty() {
        return Ok(false);
    }
    renew(site, request, |key| key.sections.extend(sections))?;
    Ok(true)
}

fn renew(site: &Site, request: u64, change: impl FnOnce(&mut LocationKey)) -> Result<(), String> {
    site.under_way.has_room()?;
    let before = site.under_way.running_location(request).ok_or(NOT_NOW)?;
    let mut key = LocationKey { handler: None, ..before.key.clone() };
    change(&mut key);
    let moved = moved(site, request, Some(&*before), key);
    let now = moved.map_err(|PhaseEnd(status)| format!("the request is refused at that location: {status}"))?;
    site.under_way.renew(request, now)
}
