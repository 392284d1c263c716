//! An object that a handler or filter stores beyond its request refuses actions on another request, or shows only its
//! own.

use super::{conf, site};
use crate::support::Request;

/// (value that the first request stores in `$KEPT`, code of a later request that uses it); the result of the code is
/// printed.
const KEPT: &[(&str, &str)] = &[
    ("$r", "$KEPT->print('foreign')"),
    ("$r", "$KEPT->puts('foreign')"),
    ("$r", "$KEPT->write('foreign')"),
    ("$r", "$KEPT->rflush"),
    ("$r", "$KEPT->sendfile('/etc/passwd')"),
    ("$r", "$KEPT->read(my $body, 100); $body"),
    ("$r", "$KEPT->status(404)"),
    ("$r", "$KEPT->headers_out->set('X-Foreign' => 1)"),
    ("$r", "$KEPT->content_type('foreign/type')"),
    ("$r", "$KEPT->args"),
    ("$r", "$KEPT->pnotes('own')"),
    ("$r", "$KEPT->push_handlers(PerlLogHandler => sub { 0 })"),
    ("$r", "$KEPT->add_output_filter(sub { my $f = shift; $f->print('foreign'); 0 })"),
    ("$r", "$KEPT->internal_redirect('/my/other')"),
    ("$r", "$KEPT->pool->cleanup_register(sub { print 'foreign' })"),
    ("$r", "$KEPT->subprocess_env(OWN => 'foreign')"),
    ("$r", "$KEPT->user"),
    ("$r", "$KEPT->user('foreign')"),
    ("$r", "tie *STDOUT, 'Apache2::RequestRec', $KEPT; eval { print 'foreign' }; untie *STDOUT"),
    ("$r->headers_in", "$KEPT->get('X-Secret')"),
    ("$r->headers_out", "$KEPT->set('X-Foreign' => 1)"),
    ("$r->err_headers_out", "$KEPT->{'X-Foreign'} = 1"),
    ("$r->notes", "$KEPT->get('own')"),
    ("$r->subprocess_env", "$KEPT->set(OWN => 'foreign')"),
    ("$r->pnotes", "$KEPT->{own}"),
    ("$r->connection", "$KEPT->pnotes('own')"),
    ("$r->connection", "$KEPT->notes->get('own')"),
    ("$r->output_filters", "$KEPT->print('foreign')"),
    ("$r->lookup_uri('/my/other')", "$KEPT->run"),
    ("$FILTER", "$KEPT->print('foreign')"),
    ("$FILTER", "$KEPT->read(my $text); $text"),
    ("$FILTER", "$KEPT->r->print('foreign')"),
    ("$FILTER", "$KEPT->c->pnotes('own')"),
    ("$FILTER", "$KEPT->remove"),
    ("$FILTER", "$KEPT->next->pass_brigade($BRIGADE)"),
    ("$FILTER->r", "$KEPT->print('foreign')"),
    ("Apache2::Request->new($r)", "$KEPT->param('name')"),
    ("Apache2::Request->new($r)", "$KEPT->body('name')"),
    ("Apache2::Request->new($r)", "$KEPT->headers_out->set('X-Foreign' => 1)"),
    ("do { my $q = Apache2::Request->new($r); $q->param('name'); $q }", "$KEPT->param('name')"),
    ("APR::Request::Apache2->handle($r)", "$KEPT->param('name')"),
    ("Apache2::Cookie::Jar->new($r)", "$KEPT->cookies('name')"),
    ("Apache2::Cookie->new($r, -name => 'X-Foreign', -value => 1)", "$KEPT->bake($KEPT)"),
    ("$BRIGADE", "$r->output_filters->pass_brigade($KEPT)"),
];

const CODE: &str = "use base 'Apache2::Filter'; use Apache2::FilterRec (); use Apache2::Connection (); use Apache2::SubRequest (); use APR::Table (); use APR::Pool ();\n\
    use APR::Brigade (); use APR::Bucket (); use Apache2::RequestUtil (); use Apache2::Log (); use Apache2::Request (); use Apache2::Cookie (); use Apache2::Response ();\n\
    our ($KEPT, $FILTER, $BRIGADE);\n\
    sub watch : FilterRequestHandler { my ($f, $bb) = @_; $FILTER ||= $f;\n\
    $BRIGADE ||= do { my $b = APR::Brigade->new($f->r->pool, $f->c->bucket_alloc); $b->insert_tail(APR::Bucket->new($f->c->bucket_alloc, 'foreign')); $b };\n\
    return $f->next->pass_brigade($bb) }\n";

/// The code of all cases, as subs in `@KEEPS` and `@USES`.
fn cases() -> String {
    let sub = |code: &str| format!("sub {{ my $r = shift; {code} }},\n");
    let keeps: String = KEPT.iter().map(|(keeps, _)| sub(keeps)).collect();
    let uses: String = KEPT.iter().map(|(_, uses)| sub(uses)).collect();
    format!("my @KEEPS = (\n{keeps});\nmy @USES = (\n{uses});\n")
}

#[test]
fn objects_kept_from_one_request_neither_show_nor_change_another() {
    let server = site(&format!(
        "{CODE}{}sub handler {{ my $r = shift; my ($case, $path) = $r->path_info =~ m{{^(?:/(\\d+))?(/\\w+)}};\n\
         if ($path eq '/other') {{ print 'other'; return 0 }}\n\
         if ($path eq '/keep') {{ $KEPT = $FILTER = $BRIGADE = undef; $r->print('first'); $r->rflush;\n\
         $KEPT = $KEEPS[$case]->($r); return 0 }}\n\
         $r->notes->set(own => 'secret'); $r->pnotes(own => 'secret'); $r->connection->pnotes(own => 'secret');\n\
         $r->connection->notes->set(own => 'secret'); $r->user('secret'); $ENV{{OWN}} = 'own';\n\
         my $said = eval {{ join ',', map {{ $_ // '' }} $USES[$case]->($r) }} // '';\n\
         read STDIN, my $body, 100; $r->content_type('text/plain');\n\
         print \"own $body $ENV{{OWN}} \", $r->user; print ' shown' if $said =~ /secret/; 0 }}",
        cases()
    ))
    .serve(&conf("SetHandler perl-script\nPerlOutputFilterHandler My::watch"));
    let mut wrong = Vec::new();
    for (case, (keeps, uses)) in KEPT.iter().enumerate() {
        server.post(&format!("/my/{case}/keep?name=first"), "name=first").is(200);
        let response = server.send(
            Request::new("POST", &format!("/my/{case}/use?name=secret"))
                .header("X-Secret", "secret")
                .header("Cookie", "name=secret")
                .body("second"),
        );
        if response.status != 200
            || response.header("x-foreign").is_some()
            || response.text() != "own second own secret"
        {
            wrong.push(format!("{keeps}, then {uses}: {response:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), server.log());
}
