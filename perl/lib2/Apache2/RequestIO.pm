package Apache2::RequestIO;

use v5.36;

use Apache2::RequestRec ();
use Cameleer::ModPerl2  ();

package Apache2::RequestRec {
    Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__,
        qw(READ READLINE GETC CLOSE BINMODE FILENO OPEN TIEHANDLE setup_client_block should_client_block
            get_client_block) );
    Cameleer::ModPerl2::lend( 'Cameleer::ModPerl2::RequestRec', __PACKAGE__, qw(print puts) );

    sub UNTIE { return }

    # Throws if the client has left.
    sub rflush ($r) {
        Apache::_rflush($r);
        Apache::_said_to_nobody('Apache2::RequestIO::rflush') if Apache::_is_gone($r);
        return;
    }

    sub printf {    ## no critic: the first argument is the format
        my ( $r, $format, @values ) = @_;
        return _write( $r, 'printf', sprintf $format, @values );
    }

    # Writes a part of the buffer; a length of -1 means all of it.
    sub write {     ## no critic: the name is the API's
        my ( $r, $buffer, $length, $offset ) = @_;
        if ( defined $length ) {
            $offset //= 0;
            $length = length($buffer) - $offset if $length == -1;
            $buffer = substr $buffer, $offset, $length;
        }
        return _write( $r, 'write', $buffer );
    }

    *PRINT  = \&print;
    *PRINTF = \&printf;
    *WRITE  = \&write;

    sub _write ( $r, $name, $text ) {
        Cameleer::ModPerl2::croak("\$r->$name can't be called before the response phase") if Cameleer::ModPerl2::is_early($r);
        my $count = Apache::_write_client( $r, $text );
        Apache::_said_to_nobody("Apache2::RequestIO::$name") if Apache::_is_gone($r);
        return $count || '0E0';
    }

    # Sends a file: all of it, or `length` bytes from an offset on.
    sub sendfile ( $r, $name, $offset = 0, $length = 0 ) {
        require Cameleer::Regular;
        my $handle = Cameleer::Regular::opened($name);
        if ( !$handle ) {
            my $error = 0 + $!;
            Cameleer::ModPerl2::raise( $error, "Apache2::RequestIO::sendfile('$name')" ) if !defined wantarray;
            return $error;
        }
        seek $handle, $offset, 0 if $offset;
        local $@;
        return 0 if eval { local $SIG{__DIE__} = 'DEFAULT'; Apache::send_fd( $r, $handle, $length || -1 ); 1 };
        my $error = $@;
        die $error if ref $error ne 'APR::Error';
        Cameleer::ModPerl2::raise( $error->{rc}, 'Apache2::RequestIO::sendfile' ) if !defined wantarray;
        return $error->{rc};
    }

    sub discard_request_body ($r) {
        1 while Apache::read_body( $r, my $chunk, 65536 );
        return 0;
    }

    # Reads the body's next bytes into the buffer, at an offset; returns 0 at the end.
    sub read { goto &Cameleer::ModPerl2::read_body }    ## no critic: the name is the API's
}

1;

__END__

=head1 NAME

Apache2::RequestIO - reads the body, writes the response

=head1 SYNOPSIS

    use Apache2::RequestIO ();

    $r->print( 'Hello', "\n" );
    $r->printf( '%d bytes', $length );
    $r->write( $buffer, $length, $offset );
    $r->sendfile( $name, $offset, $length );
    $r->rflush;
    my $got = $r->read( my $buffer, 8192 );
    $r->discard_request_body;

=head1 DESCRIPTION

C<print>, C<printf> and C<write> return the number of bytes, or C<0E0> for none. C<sendfile> returns
an APR status, 0 for success; in void context it throws an L<APR::Error>. All of them, C<rflush> and perl's own C<print>
throw one when the client has left. A program that catches it four times and goes on is ended as by C<CORE::exit>.
C<read> returns 0 at the end of the body.

=cut
