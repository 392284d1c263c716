# Apache2::Directive: the configuration as a tree of directives; run by packages.t

use v5.36;

return {
    tree   => [ sub ($r) { my @said = Apache2::Directive::conftree()->lookup('PerlSetVar'); ref $said[0] ? join ' ', @{ $said[0] } : $said[0] }, 'Said once' ],
    place  => [ sub ($r) { my $section = Apache2::Directive::conftree()->lookup( 'Location', '/case' ); $section->{SetHandler} }, 'modperl' ],
    walked => [ sub ($r) { my $n = 0; for ( my $at = Apache2::Directive::conftree(); $at; $at = $at->next ) { $n++ if $at->directive eq 'ServerName' } $n }, '1' ],
    line   => [ sub ($r) { for ( my $at = Apache2::Directive::conftree(); $at; $at = $at->next ) { return join '|', $at->args, $at->filename =~ m{([^/]+)\z} if $at->directive eq 'ServerName' } 'none' }, 'localhost|site.conf' ],
};
