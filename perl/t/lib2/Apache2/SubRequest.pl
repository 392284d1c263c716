# Apache2::SubRequest: looks up and runs subrequests; run by packages.t

use v5.36;

return {
    looked_up => [ sub ($r) { my $sub = $r->lookup_uri('/page.txt'); join '|', $sub->status, $sub->filename =~ m{/page\.txt\z} ? 'found' : $sub->filename }, '200|found' ],
    run       => [ sub ($r) { $r->lookup_uri('/page.txt')->run; '' }, "a page\n" ],
    method    => [ sub ($r) { $r->lookup_method_uri( 'GET', '/page.txt' )->method }, 'GET' ],
    file      => [ sub ($r) { $r->lookup_file( $ENV{TEST_FOLDER} . '/page.txt' )->content_type }, qr{\Atext/plain} ],
    missing   => [ sub ($r) { -e $r->lookup_uri('/none.txt')->filename ? 'there' : 'missing' }, 'missing' ],
};
