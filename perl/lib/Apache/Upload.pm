package Apache::Upload;

use v5.36;
use IO::Handle ();

use Apache::File ();

# Largest file that stays in memory, in bytes.
our $IN_MEMORY = 65_536;

sub begin ( $class, $name, $filename, $info, $folder ) {
    return bless { name => $name, filename => $filename, info => $info, folder => $folder, size => 0, data => '' }, $class;
}

sub append ( $self, $bytes ) {
    $self->{size} += length $bytes;
    if ( !$self->{tempname} ) {
        $self->{data} .= $bytes;
        $self->_to_disk if $self->{size} > $IN_MEMORY;
        return;
    }
    print { $self->{fh} } $bytes or die "cannot write $self->{tempname}: $!\n";
    return;
}

sub _to_disk ($self) {
    @$self{qw(tempname fh)} = Apache::File->tmpfile( $self->{folder} );
    print { $self->{fh} } delete $self->{data} or die "cannot write $self->{tempname}: $!\n";
    return;
}

# A new handle for each call, at the start: one caller may read, seek or close it while another one reads.
# During UPLOAD_HOOK the file has the bytes received so far.
sub fh ($self) {
    return _in_memory( $self->{data} ) unless $self->{tempname};
    IO::Handle::flush( $self->{fh} );
    open my $handle, '<', $self->{tempname} or die "cannot open $self->{tempname}: $!\n";
    return $handle;
}

# Returns a real descriptor, which can be passed to programs, and whose size -s knows.
sub _in_memory ($bytes) {
    my ($number) = Apache::Request::memory_file($bytes) =~ /(\d+)/a;    # untainted by the match, like the bytes
    open my $handle, '<&=', $number or die "cannot open a file in memory: $!\n";
    return $handle;
}

sub name     ($self) { return $self->{name} }
sub filename ($self) { return $self->{filename} }
sub size     ($self) { return $self->{size} }
sub next     ($self) { return $self->{next} }
sub type     ($self) { return $self->info('Content-Type') }

sub info ( $self, @name ) { return @name ? scalar $self->{info}->get( $name[0] ) : $self->{info} }

sub tempname ($self) {
    $self->_to_disk unless $self->{tempname};
    return $self->{tempname};
}

sub link ( $self, $to ) {
    my $from = $self->tempname;
    IO::Handle::flush( $self->{fh} );
    return CORE::link( $from, $to ) ? $to : undef;
}

1;

__END__

=head1 NAME

Apache::Upload - an uploaded file of a form

=head1 SYNOPSIS

    my $upload = $q->upload('picture');
    print $upload->filename, ' ', $upload->size, ' ', $upload->type;
    while ( readline $upload->fh ) { ... }
    $upload->link('/srv/pictures/new.png') or die $!;

=head1 DESCRIPTION

C<name> (of the field), C<filename> (chosen by the browser: not safe to open), C<size> in bytes,
C<type>, C<info> (an L<Apache::Table> of the part's headers; with an argument one header), C<next>
upload or undef.

C<fh> returns a new handle at the file's start for each call. Up to C<$Apache::Upload::IN_MEMORY>
(65536) bytes, the file is in memory; a larger one is in C<TEMP_DIR>, and is removed after the
request. C<tempname> writes the file to disk if necessary, and returns its name. C<link> makes a
second link on the same file system and returns its name, or undef with C<$!>.

=cut
