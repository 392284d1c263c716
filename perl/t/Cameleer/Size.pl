# Cameleer::Size: lists the subs of a module or script, with their sizes; run by packages.t

use v5.36;
use JSON::PP ();

sub My::Sized::of ($asked) { my $of = JSON::PP->new->decode( Cameleer::Size::of($asked) ); return { map { $_->{name} => $_ } @{ $of->{subs} } } }

return {
    module  => [ sub ($r) { my $subs = My::Sized::of('module Cameleer::HTML'); join '|', map { $subs->{escape}{$_} > 0 ? $_ : "no $_" } qw(bytes ops) }, 'bytes|ops' ],
    imported => [ sub ($r) { my $subs = My::Sized::of('module Cameleer::HTML'); join '|', @{ $subs->{import} }{qw(of ops)} }, 'Exporter::import|0' ],
    script                => [ sub ($r) { my $path = TestServer::own_file( 'sized.pl', "sub own { 1 }\nprint own();\n" ); chmod 0755, $path; join ' ', sort keys %{ My::Sized::of("script $path") } }, qr/\bown\b/ ],
    a_missing_module_dies => [ sub ($r) { eval { Cameleer::Size::of('module No::Such') }; $@ }, qr{\ACan't locate No/Such\.pm} ],
    no_file               => [ sub ($r) { eval { Cameleer::Size::of('script /no/such.pl') }; $@ ? 'died' : 'sized' }, 'died' ],
};
