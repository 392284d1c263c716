# Apache::GzipChain: compresses the output for clients that accept gzip; run by packages.t

use v5.36;
use IO::Uncompress::Gunzip ();

sub My::Zipped::handler ($r) { $r->header_in( 'Accept-Encoding' => 'gzip' ); Apache::GzipChain::handler($r) }

# A link that returns its input uncompressed at the end, so that the whole chain is tested.
package My::Unzipped {
    sub PRINT ( $self, @text ) { $self->{seen} .= join '', @text; return 1 }

    sub finish ($self) {
        IO::Uncompress::Gunzip::gunzip( \$self->{seen}, \my $text ) or return $self->{r}->print('no archive');
        return $self->{r}->print("unpacked $text");
    }
}

return {
    a_client_without_gzip_is_declined => [ sub ($r) { print Apache::GzipChain::handler($r); '' }, '-1' ],
    output_is_a_gzip_stream           => [ sub ($r) { My::Zipped::handler($r); print 'a text'; '' }, qr/\A\x1f\x8b/ ],
    all_output_is_compressed          => [
        sub ($r) {
            @My::Unzipped::ISA = 'Apache::OutputChain';
            Apache::OutputChain::handler( $r, 'My::Unzipped' );
            My::Zipped::handler($r);
            print 'a ', 'text', undef // '';
            printf '-%d', 5;
            '';
        },
        'unpacked a text-5',
    ],
    no_output_stays_empty             => [ sub ($r) { My::Zipped::handler($r); '' }, '' ],
    vary_gains_accept_encoding        => [ sub ($r) { $r->header_out( Vary => 'Cookie' ); My::Zipped::handler($r); $r->print( $r->header_out('Vary') ); '' }, 'Cookie, Accept-Encoding' ],
};
