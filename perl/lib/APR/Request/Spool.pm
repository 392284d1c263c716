package APR::Request::Spool;

use v5.36;

use Fcntl      ();
use IO::Handle ();

# The content of an upload: in memory up to a limit, otherwise in a file, which is removed with the last reference.

sub new ( $class, $limit, $folder ) { return bless { limit => $limit, folder => $folder, size => 0, data => '', pid => $$ }, $class }

sub append ( $self, $bytes ) {
    $self->{size} += length $bytes;
    $self->_to_disk if !$self->{handle} && $self->{size} >= $self->{limit};
    if ( $self->{handle} ) { print { $self->{handle} } $bytes or die "cannot write $self->{name}: $!\n" }
    else                   { $self->{data} .= $bytes }
    return;
}

my @LETTERS = ( 'a' .. 'z', 'A' .. 'Z', 0 .. 9 );

sub _to_disk ($self) {
    require File::Spec;
    my $folder = $self->{folder} // File::Spec->tmpdir;
    ($folder) = $folder =~ /\A([^\0]+)\z/ or die "no temporary file can be made in \"$folder\"\n";    # untainted by the match
    for my $attempt ( 1 .. 100 ) {
        my $name = "$folder/apreq" . join '', map { $LETTERS[ rand @LETTERS ] } 1 .. 6;
        sysopen my $handle, $name, Fcntl::O_RDWR() | Fcntl::O_EXCL() | Fcntl::O_CREAT(), 0600 or next;
        @$self{qw(name handle)} = ( $name, $handle );
        print {$handle} delete $self->{data} or die "cannot write $name: $!\n";
        return;
    }
    die "no temporary file can be made in $folder: $!\n";
}

sub size ($self) { return $self->{size} }

# The file with the whole content.
sub file ($self) {
    $self->_to_disk if !$self->{handle};
    $self->{handle}->flush or die "cannot write $self->{name}: $!\n";
    return $self->{name};
}

sub is_file ($self) { return defined $self->{handle} }

sub bytes ($self) {
    return $self->{data} if !$self->{handle};
    my $handle = $self->reader;
    local $/ = undef;
    return readline($handle) // '';
}

# A new handle, positioned at the start.
sub reader ($self) {
    my $name = $self->file;
    open my $handle, '<:raw', $name or die "cannot open $name: $!\n";
    return $handle;
}

# The content as buckets; a file is read when the buckets are read.
sub brigade ( $self, $pool, $allocator ) {
    require APR::Brigade;
    require APR::Bucket;
    my $brigade = APR::Brigade->new( $pool, $allocator );
    if    ( $self->{handle} )       { APR::Brigade::_insert_file( $brigade, $self->file, $self->{size} ) }
    elsif ( length $self->{data} )  { $brigade->insert_tail( APR::Bucket->new( $allocator, my $copy = $self->{data} ) ) }
    return $brigade;
}

# Replaces the content by that of a brigade.
sub take ( $self, $brigade ) {
    my $copy = APR::Brigade::_copy($brigade);
    @$self{qw(size data)} = ( 0, '' );
    delete $self->{handle};
    $self->_remove;
    while ( defined( my $bytes = APR::Brigade::_take( $copy, 65_536 ) ) ) { $self->append($bytes) }
    return;
}

# Links the file to a second name, or copies it where that is impossible. Content in memory is never written
# over an existing file.
sub link_to ( $self, $path ) {
    return CORE::link( $self->file, $path ) || _copied( $self->file, $path ) if $self->{handle};
    sysopen my $to, $path, Fcntl::O_WRONLY() | Fcntl::O_EXCL() | Fcntl::O_CREAT() or return 0;
    return print( {$to} $self->{data} ) && close $to;
}

sub _copied ( $from, $path ) {
    require File::Copy;
    return File::Copy::copy( $from, $path );
}

sub _remove ($self) {
    my $name = delete $self->{name};
    unlink $name if defined $name && $self->{pid} == $$;
    return;
}

sub DESTROY ($self) {
    local ( $!, $@ );
    $self->_remove;
    return;
}

1;

__END__

=head1 NAME

APR::Request::Spool - the content of an upload

=cut
