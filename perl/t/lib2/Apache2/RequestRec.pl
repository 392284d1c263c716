# Apache2::RequestRec: fields, headers and tables of a request; run by packages.t

use v5.36;

return {
    target   => [ sub ($r) { join '|', $r->method, $r->uri, $r->args, $r->unparsed_uri }, 'POST|/case/Apache2/RequestRec/target|a=1&b=2|/case/Apache2/RequestRec/target?a=1&b=2' ],
    protocol => [ sub ($r) { $r->protocol eq TestServer::protocol() ? 'as it came' : $r->protocol }, 'as it came' ],
    line     => [ sub ($r) { $r->the_request }, qr{\APOST /case/Apache2/RequestRec/line\?a=1&b=2 HTTP/\d} ],
    headers  => [ sub ($r) { join '|', ref $r->headers_in, $r->headers_in->get('Content-Length') }, 'APR::Table|3' ],
    out      => [ sub ($r) { $r->headers_out->set( X => 1 ); $r->headers_out->add( X => 2 ); join ',', $r->headers_out->get('X') }, '1,2' ],
    do_dies  => [ sub ($r) { my $t = $r->headers_out; $t->set( X => 1 ); eval { $t->do( sub { die 'stopped' } ) }; my $why = $@; $t->set( Y => 2 ); $why . join ',', map { $t->get($_) } qw(X Y) }, qr/\Astopped at \S+RequestRec\.pl line \d+\.\n1,2\z/ ],
    do_deep  => [ sub ($r) { my $t = $r->notes; $t->set( $_ => 1 ) for qw(A B); my $s = ''; $t->do( sub { my $n = $_[0]; eval { $t->do( sub { die "$n$_[0]\n" } ) }; $s .= $@ =~ tr/\n//dr } ); $s }, 'AABA' ],
    do_adds  => [ sub ($r) { my $t = $r->notes; $t->set( A => 1 ); my $n = 0; $t->do( sub { $t->add( "X$n" => 1 ); ++$n < 9 } ); $n }, '1' ],
    do_grows => [ sub ($r) { my $t = $r->headers_in; TestServer::growth( sub { eval { $t->do( sub { die "stop\n" } ) } } ) }, 'steady' ],
    status   => [ sub ($r) { $r->status }, '200' ],
    user     => [ sub ($r) { $r->user('ann'); $r->user }, 'ann' ],
    notes    => [ sub ($r) { $r->notes->set( a => 'b' ); $r->notes->get('a') }, 'b' ],
    type     => [ sub ($r) { $r->content_type('text/x-case'); $r->content_type }, 'text/x-case' ],
    env      => [ sub ($r) { $r->subprocess_env( A => 'b' ); $r->subprocess_env('A') }, 'b' ],
    pool     => [ sub ($r) { ref $r->pool }, 'APR::Pool' ],
    main     => [ sub ($r) { join '|', map { defined $_ ? 'one' : 'none' } $r->main, $r->prev, $r->next }, 'none|none|none' ],
    languages => [ sub ($r) { $r->content_languages( [ 'de', 'fr' ] ); join '|', @{ $r->content_languages } }, 'de|fr' ],
    handler  => [ sub ($r) { $r->handler }, 'modperl' ],
};
