//! Server-side includes: httpd's mod_include. The cases of tests/beside_httpd/include compare each element with httpd.

mod documents;
mod limits;
mod programs;

use crate::support::Site;

/// A site whose .shtml files are parsed.
const CONF: &str = "AddType text/html .shtml\nAddOutputFilter INCLUDES .shtml\nOptions +Includes\n";
/// The default of `SSIErrorMsg`.
const ERROR: &str = "[an error occurred while processing this directive]";

fn page(text: &str) -> Site {
    Site::new().file("htdocs/page.shtml", text)
}
