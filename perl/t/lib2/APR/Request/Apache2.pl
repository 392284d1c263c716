# APR::Request::Apache2: query and body of an Apache2 request; run by packages.t

use v5.36;

return {
    args                          => [ sub ($r) { my $q = APR::Request::Apache2->handle($r); join '|', map { scalar $q->args($_) } qw(a b) }, '1|2' ],
    body                          => [ sub ($r) { my $q = APR::Request::Apache2->handle($r); scalar $q->body('c') }, '3' ],
    handle_blesses_into_its_class => [ sub ($r) { ref APR::Request::Apache2->handle($r) }, 'APR::Request::Apache2' ],
};
