# Apache2::URI: builds, parses and unescapes URLs; run by packages.t

use v5.36;

return {
    constructed => [ sub ($r) { my $url = $r->construct_url('/x'); $url =~ m{\Ahttps?://[^/]+/x\z} ? 'whole' : $url }, 'whole' ],
    parsed      => [ sub ($r) { my $uri = $r->parsed_uri; join '|', $uri->path, $uri->query }, '/case/Apache2/URI/parsed|a=1&b=2' ],
    unescaped   => [ sub ($r) { my $text = 'a%20b%2Fc'; Apache2::URI::unescape_url($text); $text }, 'a b/c' ],
    scheme      => [ sub ($r) { $r->construct_url =~ /\A(\w+):/ && $1 eq TestServer::scheme() ? 'as it came' : $r->construct_url }, 'as it came' ],
};
