//! Incorrect request filters: their own response, and the next one.

use super::filters::filtered;

/// A case: the name and code of a filter at `/my`, the status, the body, and the log message.
#[test]
fn a_clumsy_filter_ends_its_own_answer_only() {
    let cases = [
        ("twice", "my ($f, $bb) = @_; $f->next->pass_brigade($bb); $f->next->pass_brigade($bb)", 200, "Hello", ""),
        ("itself", "my ($f, $bb) = @_; $f->pass_brigade($bb)", 500, "", "has passed a brigade to itself"),
        (
            "gone",
            "my ($f, $bb) = @_; $bb->destroy; $f->next->pass_brigade($bb)",
            500,
            "",
            "invalid APR::Brigade object",
        ),
        ("swallows", "my ($f, $bb) = @_; $bb->destroy; 0", 200, "", ""),
        ("no_pool", "my ($f, $bb) = @_; $f->r->pool->destroy; $f->next->pass_brigade($bb)", 200, "Hello", ""),
        (
            "no_list",
            "my ($f, $bb) = @_; $bb->bucket_alloc->destroy; $f->next->pass_brigade($bb)",
            500,
            "",
            "invalid APR::B",
        ),
        ("removed", "my $f = shift; $f->remove; $f->remove; -1", 200, "Hello", ""),
        (
            "says",
            "my $f = shift; $f->r->print('Oh '); while ($f->read(my $t, 9)) { $f->print($t) } 0",
            200,
            "HelloOh ",
            "",
        ),
        (
            "false",
            "package My::False { use overload bool => sub { 0 }, '\"\"' => sub { 'a false word' } } die bless [], 'My::False'",
            500,
            "",
            "a false word",
        ),
        ("whole", "my $f = shift; $f->read(my $t, ~0); $f->print($t); 0", 200, "Hello", ""),
        ("words", "'garbage'", 200, "", ""),
        ("status", "404", 404, "There is no page", ""),
        ("number", "99999", 500, "", ""),
        ("below", "-7", 500, "", ""),
        ("object", "$_[0]", 200, "", ""),
        ("chain", "$_[0]->r->output_filters({}); -1", 500, "", "expected an Apache2::Filter of this request"),
    ];
    let subs = cases.map(|(name, code, ..)| format!("sub {name} {{ {code} }}\n")).concat();
    let places = cases.map(|(name, ..)| {
        format!(
            "</Location>\n<Location /{name}>\nSetHandler modperl\nPerlResponseHandler My\nPerlOutputFilterHandler My::{name}\n"
        )
    });
    let server = filtered(&subs, &places.concat());
    let worker = server.workers();
    for (name, _, status, text, log) in cases {
        let response = server.get(&format!("/{name}"));
        assert_eq!(response.status, status, "{name}: {response:?}");
        assert!(response.text().contains(text), "{name}: {response:?}");
        assert!(log.is_empty() || server.logged(log).contains(log));
    }
    assert_eq!(server.text("/my"), "Hello");
    assert_eq!(server.workers()[0].0, worker[0].0);
}

#[test]
fn filters_without_an_end_are_ended_and_logged_in_few_lines() {
    let code = "sub again { $_[0]->r->add_output_filter(\\&again); -1 }\nsub deep { no warnings 'recursion'; deep() }";
    let ways_to_end = [
        ("again", "", 500, "more than 400 filters"),
        ("deep", "RequestTimeout 1\n", 504, "RequestTimeout has passed; Perl was here"),
    ];
    for (handler, limit, status, log) in ways_to_end {
        let server = filtered(code, &format!("{limit}PerlOutputFilterHandler My::{handler}"));
        let worker = server.workers();
        server.get("/my").is(status);
        server.logged(log);
        assert!(server.log().lines().count() < 300, "{}", server.log().lines().count());
        assert_eq!(server.workers()[0].0, worker[0].0);
    }
}

#[test]
fn a_filter_of_a_body_that_brings_nothing_and_reads_nothing_is_an_error() {
    // A filter that collects data is called until it has the whole body.
    let code = "sub nothing { 0 }\n\
        sub late { my $f = shift; while ($f->read(my $t, 9)) { $f->ctx(($f->ctx // '') . $t) } $f->print($f->ctx) if $f->seen_eos; 0 }";
    let server = filtered(code, "PerlInputFilterHandler My::nothing");
    server.post("/my", "x").is(500);
    server.logged("returned neither bytes nor its end");
    let server = filtered(code, "PerlInputFilterHandler My::late");
    assert_eq!(server.post("/my", &"x".repeat(100_000)).text(), format!("Hello{}", "x".repeat(100_000)));
}
