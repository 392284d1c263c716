# Apache::Peek: dumps values as Devel::Peek does; run by packages.t

use v5.36;

return {
    dump_writes_a_scalar           => [ sub ($r) { Apache::Peek::Dump( my $text = 'Chris' ); '' }, qr/\ASV = PV\(.*"Chris"\\0/s ],
    dump_array_writes_each_element => [ sub ($r) { Apache::Peek::DumpArray( 1, 7, 'x' ); '' }, qr/\AElt No\. 0\nSV = IV.*Elt No\. 1\nSV = PV/s ],
    dump_accepts_a_limit           => [ sub ($r) { Apache::Peek::Dump( [ [ [1] ] ], 1 ); '' }, qr/\ASV = .*PVAV/s ],
    dump_writes_undef              => [ sub ($r) { Apache::Peek::Dump(undef); '' }, qr/\ASV = / ],
    all_exports_both_subs          => [ sub ($r) { package My::Peek; Apache::Peek->import(':ALL'); join '|', map { My::Peek->can($_) ? 'there' : 'none' } qw(Dump DumpArray) }, 'there|there' ],
};
