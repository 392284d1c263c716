# Apache2::Request: parameters of query and body, and the limit of a body; run by packages.t

use v5.36;

return {
    params => [ sub ($r) { my $q = Apache2::Request->new($r); join '|', map { "$_=" . $q->param($_) } sort $q->param }, 'a=1|b=2|c=3' ],
    body   => [ sub ($r) { my $q = Apache2::Request->new($r); join '|', map { scalar $q->body($_) // 'none' } qw(a c) }, 'none|3' ],
    limit  => [ sub ($r) { my $q = Apache2::Request->new( $r, POST_MAX => 1 ); eval { $q->parse; 1 }; $q->body_status ? 'refused' : 'taken' }, 'refused' ],
};
