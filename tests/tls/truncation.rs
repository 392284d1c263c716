//! Truncated responses over TLS whose length only the end of the connection shows.

use super::{TLS, curl, site};

const APP: &str = r#"sub {
    my $path = $_[0]{PATH_INFO};
    sub { my $out = $_[0]->([200, []]); $out->write("first,\n"); die "in the middle\n" if $path eq '/dies'; $out->close };
}"#;

#[test]
fn a_session_ends_in_order_only_when_the_answer_was_whole() {
    let server = site().file("app.psgi", APP).serve(&format!("{TLS}<Location />\nPsgiApp app.psgi\n</Location>"));
    let whole = curl(&server, &["--no-alpn", "--http1.0", "https://localhost:@PORT@/whole"]).succeeded();
    assert_eq!(whole.out, "first,\n");
    let cut = curl(&server, &["--no-alpn", "--http1.0", "https://localhost:@PORT@/dies"]);
    assert!(cut.code == 56 && cut.err.contains("Connection reset by peer"), "{cut:?}");
}
