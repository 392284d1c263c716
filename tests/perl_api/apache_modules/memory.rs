//! The memory figures of the documents: modules loaded before the fork compared with modules loaded after it.

use super::CONF;
use crate::support::Site;

/// Size and shared size of a worker in which `preload` configures the modules, as GTop reports them.
fn measured(preload: &str) -> (u64, u64) {
    let script = "use CGI (); use Storable (); use DBI (); use POSIX (); use GTop (); my $r = shift; $r->send_http_header('text/plain');\n\
                  my $m = GTop->new->proc_mem($$); printf \"%d %d\", $m->size, $m->share;";
    let server = Site::new().script("scripts/memuse.pl", script).serve(&format!("{CONF}PerlModule GTop\n{preload}"));
    let text = server.text("/perl/memuse.pl");
    let (size, share) = text.split_once(' ').unwrap_or_else(|| panic!("{text}"));
    (size.parse().expect("a number"), share.parse().expect("a number"))
}

#[test]
fn modules_that_are_loaded_before_the_fork_are_shared() {
    let (size, share) = measured("");
    let (preloaded_size, preloaded_share) = measured("PerlModule CGI Storable DBI POSIX");
    let (unshared, preloaded_unshared) = (size - share, preloaded_size - preloaded_share);
    assert!(preloaded_share > share, "{share} {preloaded_share}");
    assert!(
        preloaded_unshared + 2_000_000 < unshared,
        "the documents save 1.8 MB of 2.5: here {unshared} became {preloaded_unshared}"
    );
}
