use serde_json::Value;

use super::serve;

/// One path retains 200 kB per request. The other takes as long and retains nothing.
const PROGRAM: &str = "my @kept; sub { my $size = 200_000; my $page = 'x' x $size; select undef, undef, undef, 0.006; \
    push @kept, $page if $_[0]{PATH_INFO} eq '/leaks'; [200, [], ['ok']] }";

#[test]
fn the_path_that_makes_workers_grow_is_named_with_its_growth() {
    let server = serve(PROGRAM, 2);
    for _ in 0..40 {
        server.get("/leaks").is(200);
        server.get("/clean?with=a-query").is(200);
    }
    server.until_idle(2);
    let output = server.control(["mem", "--urls", "--json"]).succeeded();
    let urls: Value = serde_json::from_str(&output.out).expect("JSON");
    let paths = urls["paths"].as_array().expect("a list");
    assert_eq!(paths[0]["path"], "/leaks", "{paths:?}");
    let grown = paths[0]["a_request"].as_i64().expect("a number");
    assert!((100_000..500_000).contains(&grown), "{paths:?}");
    let clean = paths.iter().find(|one| one["path"] == "/clean").expect("the other one");
    assert!(clean["grown"].as_i64().is_some_and(|bytes| bytes < 2_000_000), "{paths:?}");
    assert!(server.control(["mem", "--urls"]).succeeded().out.contains("  /leaks\n"));
}
