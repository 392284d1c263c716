//! The tests of the API, of scripts and of their phases a second time, each site with `PerlTaintCheck On`.
//!
//! `support::Site` sees by a test's name that it stands in here. What a client sent must not become more than data under taint
//! mode; everything else must go on as without it.

#[path = "apache_modules/mod.rs"]
mod apache_modules;
#[path = "../apps/examples.rs"]
mod examples;
#[path = "handlers/mod.rs"]
mod handlers;
#[path = "phases/mod.rs"]
mod phases;
#[path = "../registry/mod.rs"]
mod registry;

/// What `$r` says of the client is tainted, and what it says of the server is not, as mod_perl 1.31 has it.
mod marks;

#[test]
fn these_tests_run_in_threads_that_have_their_names() {
    assert!(crate::support::is_tainted(), "with --test-threads 1 the tests in here run without taint mode");
}
