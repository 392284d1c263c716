use serde_json::Value;

use super::serve;

/// An application that leaks two objects in a reference cycle per request.
const LEAKS: &str = "sub { my $a = bless {}, 'My::Leaked'; my $b = bless [$a, 'x' x 100], 'My::Other'; $a->{other} = $b; [200, [], ['ok']] }";

#[test]
fn a_planted_leak_is_named_with_its_number() {
    let server = serve(LEAKS, 2);
    server.until_idle(2);
    for _ in 0..50 {
        server.get("/").is(200);
    }
    server.until_idle(2);
    let output = server.control(["mem", "--leaks", "--json"]).succeeded();
    let leaks: Value = serde_json::from_str(&output.out).expect("JSON");
    assert_eq!((leaks["asked"].as_u64(), leaks["requests"].as_u64()), (Some(2), Some(50)));
    let classes = leaks["classes"].as_array().expect("a list");
    let first: Vec<&str> = classes.iter().take(2).filter_map(|one| one["class"].as_str()).collect();
    assert!(first.contains(&"My::Leaked") && first.contains(&"My::Other"), "{classes:?}");
    assert!(classes[..2].iter().all(|one| one["more"] == 50), "{classes:?}");
    let table = server.control(["mem", "--leaks"]).succeeded().out;
    assert!(table.lines().any(|line| line.ends_with(" My::Leaked") && line.contains(" 1.00 ")), "{table}");
}

#[test]
fn a_program_that_keeps_nothing_leaks_no_class() {
    let server = serve("sub { my $page = bless {}, 'My::Page'; [200, [], ['ok']] }", 1);
    for _ in 0..50 {
        server.get("/").is(200);
    }
    server.until_idle(1);
    let output = server.control(["mem", "--leaks", "--json"]).succeeded();
    assert!(!output.out.contains("My::Page"), "{output:?}");
}
