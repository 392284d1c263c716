//! Objects that a handler stores beyond their request: a method that would act on another request fails, other methods
//! show the stored request only.

use super::{conf, site};
use crate::support::{Request, is_tainted};

/// Pairs of an expression that the first request stores in `$KEPT`, and code that a later request runs with it. The
/// result is printed.
const KEPT: &[(&str, &str)] = &[
    ("$r", "$KEPT->print('foreign')"),
    ("$r", "$KEPT->header_out('X-Foreign', 1)"),
    ("$r", "$KEPT->send_http_header('foreign/type')"),
    ("$r", "$KEPT->status(404)"),
    ("$r", "$KEPT->args"),
    ("$r", "my $body; $KEPT->read($body, 100); $body"),
    ("$r", "$KEPT->content"),
    ("$r", "$KEPT->notes('own')"),
    ("$r", "$KEPT->pnotes('own')"),
    ("$r", "$KEPT->register_cleanup(sub { print 'foreign' })"),
    ("$r", "$KEPT->push_handlers(PerlLogHandler => sub { print 'foreign' })"),
    ("$r", "$KEPT->internal_redirect('/my/other')"),
    ("$r", "$KEPT->lookup_uri('/my/other')->run"),
    ("$r", "$KEPT->subprocess_env(OWN => 'foreign')"),
    ("$r", "$KEPT->custom_response(404, 'foreign')"),
    ("$r", "tie *STDOUT, 'Apache', $KEPT; eval { print 'foreign' }; untie *STDOUT"),
    ("$r->connection", "$KEPT->user"),
    ("$r->connection", "$KEPT->user('foreign')"),
    ("$r->connection", "$KEPT->remote_ip('192.0.2.9')"),
    ("scalar $r->headers_in", "$KEPT->get('X-Secret')"),
    ("scalar $r->headers_out", "$KEPT->set('X-Foreign', 1)"),
    ("scalar $r->err_headers_out", "$KEPT->{'X-Foreign'} = 1"),
    ("scalar $r->subprocess_env", "$KEPT->set(OWN => 'foreign')"),
    ("scalar $r->notes", "$KEPT->get('own')"),
    ("$r->pnotes", "$KEPT->{own}"),
    ("Apache::Table->new($r)", "$KEPT->set(a => 'foreign'); $KEPT->get('a')"),
    ("$r->lookup_uri('/my/other')", "$KEPT->run"),
    ("Apache::Request->new($r)", "$KEPT->param('name')"),
    ("do { my $q = Apache::Request->new($r); $q->parse; $q }", "$KEPT->param('name')"),
    ("do { my $q = Apache::Request->new($r); $q->parse; $q->parms }", "$KEPT->get('name')"),
    ("do { my $q = Apache::Request->new($r); $q->upload('file') || $q }", "$KEPT->upload('file')"),
    ("$r->parsed_uri", "$KEPT->query"),
    ("$r->log", "$KEPT->warn('foreign'); ''"),
    ("tied(*STDOUT) || $r", "$KEPT->print('foreign')"),
];

/// The code of all cases, as subs in `@KEEPS` and `@USES`.
fn cases() -> String {
    let sub = |code: &str| format!("sub {{ my $r = shift; {code} }},\n");
    let keeps: String = KEPT.iter().map(|(keeps, _)| sub(keeps)).collect();
    let uses: String = KEPT.iter().map(|(_, uses)| sub(uses)).collect();
    format!("my @KEEPS = (\n{keeps});\nmy @USES = (\n{uses});\n")
}

#[test]
fn objects_kept_from_one_request_neither_show_nor_change_another() {
    if is_tainted() {
        return;
    }
    let server = site(&format!(
        "our $KEPT; {}sub other {{ my $r = shift; $r->send_http_header; $r->print('other'); OK }}\n\
         sub handler {{ my $r = shift; return other($r) if $r->path_info eq '/other';\n\
         my ($case, $path) = $r->path_info =~ m{{^/(\\d+)(/\\w+)}};\n\
         if ($path eq '/keep') {{ $KEPT = undef; $KEPT = $KEEPS[$case]->($r); $r->send_http_header; return OK }}\n\
         $r->notes(own => 'secret'); $r->pnotes(own => 'secret'); $r->connection->user('secret'); $ENV{{OWN}} = 'own';\n\
         my $said = eval {{ join ',', map {{ $_ // '' }} $USES[$case]->($r) }} // '';\n\
         read STDIN, my $body, 100; $r->content_type('text/plain'); $r->send_http_header;\n\
         print \"own $body $ENV{{OWN}} \", $r->connection->remote_ip, ' ', $r->connection->user;\n\
         print ' shown' if $said =~ /secret/; OK }}",
        cases()
    ))
    .serve(&format!("PerlModule Apache::Request Apache::Table Apache::URI\n{}", conf("")));
    let mut wrong = Vec::new();
    for (case, (keeps, uses)) in KEPT.iter().enumerate() {
        server.post(&format!("/my/{case}/keep?name=first"), "other=first").is(200);
        let ask = Request::new("POST", &format!("/my/{case}/use?name=secret"))
            .header("X-Secret", "secret")
            .body("other=secret");
        let response = server.send(ask.header("Content-Type", "application/x-www-form-urlencoded"));
        let is_own = response.text() == "own other=secret own 127.0.0.1 secret";
        if response.status != 200 || response.header("x-foreign").is_some() || !is_own {
            wrong.push(format!("{keeps}, then {uses}: {response:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), server.log());
}
