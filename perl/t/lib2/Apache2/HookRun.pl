# Apache2::HookRun: runs phases for a subrequest; run by packages.t

use v5.36;

return {
    access => [ sub ($r) { my $sub = do { require Apache2::SubRequest; $r->lookup_uri('/page.txt') }; $sub->run_type_checker }, qr/\A(?:0|-1)\z/ ],
    fixups => [ sub ($r) { require Apache2::SubRequest; $r->lookup_uri('/page.txt')->run_fixups }, qr/\A(?:0|-1)\z/ ],
};
