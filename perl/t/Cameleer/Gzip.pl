# Cameleer::Gzip: decides whether to compress, and compresses a response; run by packages.t

use v5.36;
use IO::Uncompress::Gunzip ();

sub My::Gzip::back (@texts) {
    my $gzip = Cameleer::Gzip->new;
    my $data = join '', ( map { $gzip->add($_) } @texts ), $gzip->end;
    IO::Uncompress::Gunzip::gunzip( \$data, \my $text ) or die 'no archive';
    return $text;
}

sub My::Gzip::accepts ( $r, $codings ) { $r->header_in( 'Accept-Encoding' => $codings ); return Cameleer::Gzip::is_accepted($r) ? 1 : 0 }

return {
    gzip_is_accepted_in_several_forms => [ sub ($r) { join '', map { My::Gzip::accepts( $r, $_ ) } 'gzip', 'x-gzip', 'GZIP;q=0.5', '*', 'br, gzip', 'gzip ; q=1' }, '111111' ],
    other_forms_do_not_accept_gzip    => [ sub ($r) { join '', map { My::Gzip::accepts( $r, $_ ) } '', 'br', 'gzip;q=0', '*;q=0', 'gzip;q=0, *', 'gzip;q=x', 'gzipped' }, '0000000' ],
    a_missing_header_accepts_no_gzip  => [ sub ($r) { Cameleer::Gzip::is_accepted($r) ? 'accepted' : 'refused' }, 'refused' ],
    the_output_unpacks_to_the_input   => [ sub ($r) { My::Gzip::back( 'a ', 'text' ) }, 'a text' ],
    a_wide_text_is_compressed_as_utf8 => [ sub ($r) { My::Gzip::back("\x{263a}") }, "\xe2\x98\xba" ],
    no_input_unpacks_to_nothing       => [ sub ($r) { no warnings; '[' . My::Gzip::back( undef, '' ) . ']' }, '[]' ],
    announce_changes_the_headers      => [ sub ($r) { $r->header_out( 'Content-Length' => 5 ); $r->header_out( ETag => '"a"' ); Cameleer::Gzip::announce($r); my $said = join '|', $r->header_out('Vary'), $r->content_encoding, map { $r->header_out($_) // 'none' } qw(Content-Length ETag); $r->content_encoding(undef); $said }, 'Accept-Encoding|gzip|none|none' ],
    leaks_nothing                     => [ sub ($r) { TestServer::growth( sub { my $g = Cameleer::Gzip->new; $g->add('x'); $g->end } ) }, 'steady' ],
};
