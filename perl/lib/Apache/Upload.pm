package Apache::Upload;

use v5.36;
use IO::Handle ();

use Apache::File ();

# Files up to this many bytes stay in memory.
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
    print { $self->{fh} } $bytes or die "$self->{tempname}: $!\n";
    return;
}

sub _to_disk ($self) {
    @$self{qw(tempname fh)} = Apache::File->tmpfile( $self->{folder} );
    print { $self->{fh} } delete $self->{data} or die "$self->{tempname}: $!\n";
    return;
}

# A handle of its own each time, at the start: one caller may read, seek or close it while another one reads. While the
# file comes in (UPLOAD_HOOK) it holds what is there so far.
sub fh ($self) {
    return _in_memory( $self->{data} ) unless $self->{tempname};
    IO::Handle::flush( $self->{fh} );
    open my $handle, '<', $self->{tempname} or die "$self->{tempname}: $!\n";
    return $handle;
}

# A real descriptor: programs can be given it, and -s knows its size.
sub _in_memory ($bytes) {
    my ($number) = Apache::Request::memory_file($bytes) =~ /(\d+)/a;    # by a match: not tainted, as the bytes are
    open my $handle, '<&=', $number or die "a file in memory: $!\n";
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

Apache::Upload - a file that came with a form

=head1 SYNOPSIS

    my $upload = $q->upload('picture');
    print $upload->filename, ' ', $upload->size, ' ', $upload->type;
    while ( readline $upload->fh ) { ... }
    $upload->link('/srv/pictures/new.png') or die $!;

=head1 DESCRIPTION

C<name> (of the field), C<filename> (as the browser says it: never a path to open), C<size> in bytes, C<type>,
C<info> (an L<Apache::Table> of the part's headers; with an argument one of them), C<next> upload or undef.

C<fh> is a new handle at the file's start each time. Up to C<$Apache::Upload::IN_MEMORY> (65536) bytes the file is in memory; a larger
one is in C<TEMP_DIR>, and goes when the request is over. C<tempname> writes it there if need be. C<link> gives it a
second name on the same file system: that name, or undef with C<$!>.

=cut
