package APR::Request::Param;

use v5.36;

use APR::Brigade          ();
use APR::Request          ();
use APR::Request::Brigade ();
use APR::Request::Spool   ();
use APR::Request::Store   ();
use APR::Request::Value   ();
use APR::Table            ();
use Carp                  ();

our $VERSION = '2.17';

use overload '""' => sub { $_[0]->APR::Request::Param::value }, fallback => 1;

sub _behind ($self) { return APR::Request::Value::behind( $self, 'p' ) }

sub make ( $class, $pool, $name, $value ) {
    return APR::Request::Value->new( name => "$name", value => "$value", is_tainted => 0, charset => 0 )->as($class);
}

sub name       ($self)           { return _behind($self)->{name} }
sub value      ( $self, @ )      { return _behind($self)->plain }
sub is_tainted ( $self, @new )   { return _behind($self)->flag( 'is_tainted', @new ) }

sub charset ( $self, @new ) {
    my $behind = _behind($self);
    my $before = $behind->charset;
    $behind->{charset} = 0 + $new[0] if @new;
    return $before;
}

# The header of the parameter's part.
sub info ( $self, @new ) {
    my $behind = _behind($self);
    my $before = $behind->{info} //= $behind->{headers} && _table( $behind->{headers} );
    $behind->{info} = $new[0] if @new;
    return $before;
}

sub _table ($lines) {
    my $table = APR::Table::make( APR::Pool->new, scalar @$lines );
    $table->add(@$_) for @$lines;
    return $table;
}

# The content of an upload as an APR::Brigade; undef for other parameters.
sub upload ( $self, @new ) {
    my $behind = _behind($self);
    $behind->{upload} //= APR::Request::Spool->new( 256 * 1024, undef ) if @new;
    $behind->{upload}->take( $new[0] ) if @new;
    return if !$behind->{upload};
    my $pool = APR::Pool->new;
    return $behind->{upload}->brigade( $pool, APR::BucketAlloc->new($pool) );
}

sub _content ( $self, $method ) {
    return _behind($self)->{upload} // Carp::croak("upload_$method: this parameter is not an upload");
}

# The browser's file name: not safe to open.
sub upload_filename ($self) {
    my $behind = _behind($self);
    return $behind->{upload} ? $behind->plain : undef;
}

sub upload_size ($self) { return _content( $self, 'size' )->size }

# The Content-Type of the part, without its attributes.
sub upload_type ($self) {
    my $info = info($self)                 // Carp::croak('upload_type: this parameter has no header');
    my $type = $info->get('Content-Type') // Carp::croak('upload_type: this upload has no Content-Type');
    return $type =~ s/;.*//sr;
}

# Reads the upload into the caller's variable; returns its length.
sub upload_slurp {
    my ($self) = @_;
    $_[1] = _content( $self, 'slurp' )->bytes;
    return length $_[1];
}

sub upload_link ( $self, $path ) { return _content( $self, 'link' )->link_to($path) ? 1 : undef }

sub upload_tempname ( $self, @ ) { return _content( $self, 'tempname' )->file }
sub upload_fh       ( $self, @ ) { return _content( $self, 'fh' )->reader }

# A handle that frees the memory as it is read; it cannot be rewound.
sub upload_io ($self) {
    _content( $self, 'io' );
    return APR::Request::Brigade::handle( bless upload($self), 'APR::Request::Brigade' );
}

package APR::Request::Param::Table;

our @ISA = ('APR::Request::Table');

sub param_class ( $self, @new ) { return $self->_class_of_values( 'APR::Request::Param', @new ) }

# The fields that are uploads.
sub uploads ( $self, @ ) {
    my $inner = $self->_inner;
    my $store = APR::Request::Store->new;
    $store->add($_) for grep { $_->{upload} } $inner->{store}->all;
    my $table = $store->table( ref $self );
    $table->param_class( $inner->{class} );
    return $table;
}

# The uploads with one name, without a walk over all fields: programs request each name in turn.
sub _uploads_of ( $self, $name ) {
    my $inner = $self->_inner;
    my @found = map { $_->as( $inner->{class} ) } grep { $_->{upload} } $inner->{store}->named($name);
    return wantarray ? @found : $found[0];
}

1;

__END__

=head1 NAME

APR::Request::Param - one parameter, or one upload

=head1 SYNOPSIS

    my $body = $req->body;
    $body->param_class('APR::Request::Param');
    for my $param ( grep { $_->upload } values %$body ) {
        printf "%s: %s, %d bytes of %s\n", $param->name, $param->upload_filename, $param->upload_size, $param->upload_type;
        $param->upload_slurp( my $content );
        $param->upload_link('/srv/pictures/new.png') or die $!;
        print while readline $param->upload_io;
    }

=head1 DESCRIPTION

C<name> and C<value> are bytes. C<is_tainted(0)> declares them trusted: if they look like UTF-8
(C<charset> is then 8; 0, 1 and 2 are ASCII, Latin-1 and Windows-1252), the value is a character
string. Setters return the old value. C<info> is the part's header, an L<APR::Table>. C<<
APR::Request::Param->make( $pool, $name, $value ) >> makes a parameter.

C<upload> is the content of an upload as a new L<APR::Brigade>, undef for other parameters;
C<upload_fh> is a new handle, C<upload_io> one that can be read only once, C<upload_tempname> the
file, which is removed after the request. C<upload_link> makes a second link to the file, or copies
it. C<filename> is chosen by the browser.

=cut
