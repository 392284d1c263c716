//! `APR::*` objects of a request: its pool, tables and addresses.

use super::serve;

#[test]
fn the_pool_of_a_request_ends_with_the_request() {
    let code = "our ($kept, $ended) = (undef, '');\n\
        sub handler { my $r = shift; my $said = $kept ? eval { $kept->new; $kept->tag('x'); 'alive' } || $@ : 'first';\n\
        $kept = $r->pool; $kept->cleanup_register(sub { $ended .= 'ended ' });\n\
        $r->print($ended, $said); 0 }";
    let server = serve(code, "");
    assert_eq!(server.text("/my"), "first");
    for ended in ["ended ", "ended ended "] {
        let body = server.text("/my");
        let rest = body.strip_prefix(ended).unwrap_or_else(|| panic!("{body}"));
        assert!(rest.starts_with("invalid pool object (already destroyed?) at "), "{body}");
    }
}

#[test]
fn only_the_server_ends_the_pool_of_a_request() {
    let code = "sub handler { my $r = shift; my $s = ''; my $p = $r->pool;\n\
        $p->cleanup_register(sub { $s .= 'too early ' }); $p->clear; $p->destroy; undef $p;\n\
        my ($n, $q) = (0, $r->pool); while ($q = $q->parent_get) { $n++ } $r->print($s, $n); 0 }";
    assert_eq!(serve(code, "").text("/my"), "3");
}

#[test]
fn tables_of_a_request_are_apr_tables_and_know_its_end() {
    let code = "use APR::Table (); our $kept;\n\
        sub handler { my $r = shift; my $said = $kept ? eval { $kept->{Host} } || $@ : 'first'; $kept = $r->headers_in;\n\
        $r->headers_out->add('X-Two' => $_) for 1, 2; my $copy = $r->headers_out->copy($r->pool); $copy->compress(1);\n\
        $r->print(join '|', ref $kept, $copy->{'x-two'}, $said); 0 }";
    let server = serve(code, "");
    assert_eq!(server.text("/my"), "APR::Table|1, 2|first");
    let body = server.text("/my");
    assert!(body.starts_with("APR::Table|1, 2|this request is over: "), "{body}");
}

#[test]
fn addresses_of_a_request_match_networks() {
    let code = "use Apache2::Connection (); use APR::SockAddr (); use APR::IpSubnet ();\n\
        sub handler { my $r = shift; my $a = $r->connection->client_addr;\n\
        my @in = map { APR::IpSubnet->new($r->pool, @$_)->test($a) } ['127.0.0.0', '8'], ['10.0.0.0', '8'];\n\
        $r->print(join '|', $a->ip_get, @in, $r->connection->local_addr->port); 0 }";
    let server = serve(code, "");
    let port = server.site.port;
    assert_eq!(server.text("/my"), format!("127.0.0.1|1|0|{port}"));
}

#[test]
fn a_brigade_ends_with_its_requests_pool() {
    let code = "use Apache2::Connection (); use APR::Brigade (); use APR::Bucket (); our $kept;\n\
        sub handler { my $r = shift; my $said = $kept ? eval { $kept->length } || $@ : 'first';\n\
        my $ba = $r->connection->bucket_alloc; $kept = APR::Brigade->new($r->pool, $ba);\n\
        $kept->insert_tail(APR::Bucket->new($ba, 'text')); $kept->flatten(my $data); $r->print(\"$data $said\"); 0 }";
    let server = serve(code, "");
    assert_eq!(server.text("/my"), "text first");
    let body = server.text("/my");
    assert!(body.starts_with("text invalid APR::Brigade object: "), "{body}");
}
