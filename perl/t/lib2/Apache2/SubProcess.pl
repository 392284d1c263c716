# Apache2::SubProcess: runs a program with pipes to its streams; run by packages.t

use v5.36;

return {
    output                     => [ sub ($r) { my $out = $r->spawn_proc_prog( '/bin/echo', ['spoken'] ); join '', <$out> }, "spoken\n" ],
    a_program_reads_and_writes => [ sub ($r) { my ( $in, $out ) = $r->spawn_proc_prog('/bin/cat'); print {$in} "through\n"; close $in; join '', <$out> }, "through\n" ],
    a_missing_program_dies     => [ sub ($r) { eval { $r->spawn_proc_prog('/none'); 1 } ? 'started' : 'exception' }, 'exception' ],
};
