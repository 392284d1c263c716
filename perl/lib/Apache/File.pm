package Apache::File;

use v5.36;
use Fcntl qw(O_RDWR O_EXCL O_CREAT);

use Apache            ();
use Apache::Constants qw(OK);
use Apache::File::Conditions ();
use Apache::File::Ranges     ();

# --- handles

sub new ( $class, @name ) {
    require Symbol;
    my $self = bless Symbol::gensym(), ref $class || $class;
    return $self if !@name || $self->open(@name);
    return undef;    ## no critic: a list context expects one value
}

sub open ( $self, $name ) { return CORE::open( $self, $name ) }    ## no critic: modes come with the name, as in 1.x
sub close ($self)         { return CORE::close($self) }

# Opens a new file, which is removed after the request. Returns (name, handle) in list context.
sub tmpfile ( $class, $folder = undef ) {
    $folder //= $ENV{TMPDIR} || '/tmp';
    ($folder) = $folder =~ /\A([^<>|;*]+)\z/ or die "no temporary file can be made in \"$folder\"\n";    # untainted by the match
    my $self = $class->new;
    for my $attempt ( 1 .. 100 ) {
        my $name = sprintf '%s/apache-%d-%08x', $folder, $$, rand 2**32;
        sysopen $self, $name, O_RDWR | O_EXCL | O_CREAT, 0600 or next;
        Apache->request->register_cleanup( sub { unlink $name } ) if Apache->request;
        return wantarray ? ( $name, $self ) : $self;
    }
    die "no temporary file can be made in $folder: $!\n";
}

package Apache {

    sub discard_request_body ($r) {
        1 while $r->read( my $chunk, 65536 );
        return Apache::Constants::OK();
    }

    sub set_content_length ( $r, $length = -s $r->finfo ) {
        Apache::header_out( $r, 'Content-Length' => $length // 0 );
        return 1;
    }

    # Sets the time of the newest source of the response.
    sub update_mtime ( $r, $time = ( stat $r->finfo )[9] ) {
        my $known = $r->mtime;
        return $known if !defined $time || $time <= $known;
        $r->pnotes( 'Apache::mtime' => 0 + $time );
        return $time;
    }

    sub mtime ($r) { return $r->pnotes('Apache::mtime') // 0 }

    # With a date in the future, clients would never revalidate.
    sub set_last_modified ( $r, $time = 0 ) {
        $r->update_mtime($time) if $time;
        my ( $mtime, $now ) = ( $r->mtime, $r->request_time );
        require Apache::Util;
        Apache::header_out( $r, 'Last-Modified' => Apache::Util::ht_time( $mtime < $now ? $mtime : $now ) );
        return;
    }

    # The tag is weak while the file may still change within the same second.
    sub set_etag ($r) {
        my ( $inode, $size ) = ( stat Apache::finfo($r) )[ 1, 7 ];
        my $weak = $r->request_time - $r->mtime > 1 ? '' : 'W/';
        my $tag  = defined $inode ? sprintf( '"%x-%x-%x"', $inode, $size, $r->mtime ) : sprintf '"%x"', $r->mtime;
        Apache::header_out( $r, ETag => $weak . $tag );
        return;
    }

    sub meets_conditions ($r) { return Apache::File::Conditions::status($r) }
    sub set_byterange    ($r) { return Apache::File::Ranges::begin($r) }
    sub each_byterange   ($r) { return Apache::File::Ranges::next($r) }
}

1;

__END__

=head1 NAME

Apache::File - files, and conditional and partial responses

=head1 SYNOPSIS

    use Apache::File ();

    my $handle = Apache::File->new($name) or return NOT_FOUND;
    my ( $name, $handle ) = Apache::File->tmpfile;    # removed after the request

    $r->update_mtime( ( stat $r->finfo )[9] );
    $r->set_last_modified;
    $r->set_etag;
    $r->set_content_length;
    if ( ( my $status = $r->meets_conditions ) != OK ) { return $status }

    $r->content_type('application/pdf');
    my $is_partial = $r->set_byterange;
    $r->send_http_header;
    if ($is_partial) {
        while ( my ( $offset, $length ) = $r->each_byterange ) {
            seek $handle, $offset, 0;
            $r->send_fd( $handle, $length );
        }
    }
    else { $r->send_fd($handle) }

=head1 DESCRIPTION

C<new(NAME)> and C<open(NAME)> take the argument of perl's two-argument open, modes included: never
pass a name that a client chose. C<tmpfile(FOLDER)> opens a new file, mode 0600, in that folder, by
default C<$ENV{TMPDIR}> or F</tmp>.

=head2 Methods of $r

=over

=item set_content_length(BYTES)

Default: the size of C<filename>.

=item update_mtime(SECONDS), mtime

Sets the modification time of the response; the latest time counts. Default: the file's time.

=item set_last_modified(SECONDS), set_etag

Set the headers from C<mtime>.

=item meets_conditions

Returns C<OK>, or the status to return: 304 when the client's copy is current, 412 when a
precondition fails. Evaluates C<If-Match>, C<If-Unmodified-Since>, C<If-None-Match> and
C<If-Modified-Since> by the headers that were set.

=item set_byterange

Returns true when the client wants parts (C<Range>, C<If-Range>) and the content length is known.
The status is then 206, and C<each_byterange> returns (offset, length) for each part. Between
several parts it prints their headers itself.

=item discard_request_body

Reads the rest of the body. Returns C<OK>.

=back

=cut
