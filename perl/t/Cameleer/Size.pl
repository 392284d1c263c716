# Cameleer::Size: lists the subs of a module or script, with their sizes; run by packages.t

use v5.36;
use JSON::PP ();

sub My::Sized::of ($asked) { my $of = JSON::PP->new->decode( Cameleer::Size::of($asked) ); return { map { $_->{name} => $_ } @{ $of->{subs} } } }

return {
    a_module_has_bytes_and_operators    => [ sub ($r) { my $subs = My::Sized::of('module Cameleer::HTML'); join '|', map { $subs->{escape}{$_} > 0 ? $_ : "no $_" } qw(bytes ops) }, 'bytes|ops' ],
    an_imported_sub_counts_no_operators => [ sub ($r) { my $subs = My::Sized::of('module Cameleer::HTML'); join '|', @{ $subs->{import} }{qw(of ops)} }, 'Exporter::import|0' ],
    a_script_has_its_subs               => [ sub ($r) { my $path = TestServer::own_file( 'sized.pl', "sub own { 1 }\nprint own();\n" ); chmod 0755, $path; join ' ', sort keys %{ My::Sized::of("script $path") } }, qr/\bown\b/ ],
    a_missing_module_dies               => [ sub ($r) { eval { Cameleer::Size::of('module No::Such') }; $@ }, qr{\ACan't locate No/Such\.pm} ],
    a_missing_script_dies               => [ sub ($r) { eval { Cameleer::Size::of('script /no/such.pl') }; $@ ? 'died' : 'sized' }, 'died' ],
};
