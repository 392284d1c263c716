package APR::Request::Parser;

use v5.36;

use APR::Request::Decode    ();
use APR::Request::Multipart ();
use APR::Request::Store     ();
use APR::Request::Value     ();

# Parsers of bodies, by content type. `feed` takes a piece and returns a status: INCOMPLETE while more may come.

use constant { INCOMPLETE => APR::Request::Decode::INCOMPLETE, BRIGADE_LIMIT => 256 * 1024 };

my %ERROR  = %APR::Request::Decode::NUMBERS;
my %FOR = (
    'application/x-www-form-urlencoded' => 'urlencoded',
    'multipart/form-data'               => 'multipart',
    'multipart/related'                 => 'multipart',
);

# The parser for a Content-Type; undef for an unknown one.
sub for_type ( $class, $type, $handle, $limit, $folder ) {
    my $kind = $FOR{ lc( $type =~ /\A([^;\s]*+)\s*+(?:;|\z)/ ? $1 : '' ) } // return undef;    ## no critic: a scalar is expected
    return $class->_make( $kind, $type, $limit, $folder, undef );
}

for my $kind (qw(generic headers urlencoded multipart)) {
    no strict 'refs';
    *$kind = sub ( $class, $pool, $allocator, $type, $limit = BRIGADE_LIMIT, $folder = undef, $hook = undef ) {
        return $class->_make( $kind, $type, $limit, $folder, $hook );
    };
}

sub default {    ## no critic: the name is the API's
    my ( $class, $pool, $allocator, $type, $limit, $folder, $hook ) = @_;
    my $self = $class->for_type( $type, undef, $limit // BRIGADE_LIMIT, $folder ) // return undef;    ## no critic
    $self->add_hook($hook) if $hook;
    return $self;
}

sub _make ( $class, $kind, $type, $limit, $folder, $hook ) {
    my $self = { content_type => $type, brigade_limit => $limit, temp_dir => $folder, hook => $hook, status => INCOMPLETE, buffer => '', from => 0 };
    return bless $self, "APR::Request::Parser::$kind";
}

# The newest hook is called first.
sub add_hook ( $self, $hook ) {
    $hook->append( $self->{hook} );
    $self->{hook} = $hook;
    return;
}

sub feed ( $self, $store, $piece, $is_last ) {
    $self->{status} = $self->take( $store, $piece, $is_last ) if $self->{status} == INCOMPLETE;
    return $self->{status};
}

# Adds a complete field.
sub add ( $self, $store, $field ) {
    return $ERROR{OVERLIMIT} if $store->is_full;
    my $status = $self->{hook} && !$field->{upload} ? $self->{hook}->run($field) : 0;
    $store->add($field) if !$status;
    return $status;
}

# Adds bytes of an upload, after the hooks; is_end is true for the last ones.
sub add_bytes ( $self, $field, $bytes, $is_end ) {
    my $kept = $bytes;
    my $status = $self->{hook} ? $self->{hook}->run( $field, \$kept, $is_end ) : 0;
    return $status if $status;
    return eval { $field->{upload}->append($kept); 1 } ? 0 : do { warn "APR::Request: cannot store an upload: $@"; $ERROR{GENERAL} };
}

# Parses a query string; returns a status, and the fields found before an error.
sub query ($text) {
    my $store = APR::Request::Store->new;
    for my $pair ( split /[&;]/, $text ) {
        next if $pair eq '';
        my $at = index $pair, '=';
        return ( $ERROR{OVERLIMIT}, $store ) if $store->is_full;
        my ( $status, $field ) = $at > 0 ? _field( substr( $pair, 0, $at ), substr $pair, $at + 1 ) : _field( $pair, '' );
        return ( $status, $store ) if $status;
        $store->add($field);
    }
    return ( 0, $store );
}

sub _field ( $name, $value ) {
    my ( $value_text, $value_status ) = APR::Request::Decode::decoded($value);
    return $value_status if $value_status;
    my ( $name_text, $name_status ) = APR::Request::Decode::decoded($name);
    return $name_status if $name_status;
    return ( 0, APR::Request::Value->new( name => $name_text, value => $value_text ) );
}

package APR::Request::Parser::urlencoded;

# A name ends at its first `=`; a pair without a name is no field.

our @ISA = ('APR::Request::Parser');

sub take ( $self, $store, $piece, $is_last ) {
    $self->{buffer} .= $piece;
    while ( defined( my $word = $self->_word($is_last) ) ) {
        if ( !defined $self->{name} ) {
            return APR::Request::Decode::EBADARG if $word eq '';
            $self->{name} = $word;
            next;
        }
        my ( $status, $field ) = APR::Request::Parser::_field( delete $self->{name}, $word );
        return $ERROR{GENERAL} if $status == APR::Request::Decode::INCOMPLETE;
        $status ||= $self->add( $store, $field );
        return $status if $status;
    }
    return $is_last ? 0 : APR::Request::Decode::INCOMPLETE;
}

# The text up to this name's or value's delimiter, or to the end of the body. Continues where the last search
# ended.
sub _word ( $self, $is_last ) {
    my $is_value = defined $self->{name};
    pos( $self->{buffer} ) = $self->{from};
    if ( $is_value ? $self->{buffer} =~ /[&;]/g : $self->{buffer} =~ /=/g ) {
        my $end = pos $self->{buffer};
        $self->{from} = 0;
        my $word = substr $self->{buffer}, 0, $end, '';
        return substr $word, 0, -1;
    }
    $self->{from} = length $self->{buffer};
    return undef if !$is_last || !$is_value;    ## no critic: a scalar is expected
    $self->{from} = 0;
    return substr $self->{buffer}, 0, length $self->{buffer}, '';
}

package APR::Request::Parser::headers;

# Header lines as fields.

our @ISA = ('APR::Request::Parser');

sub take ( $self, $store, $piece, $is_last ) {
    $self->{buffer} .= $piece;
    my $found = APR::Request::Multipart::header_lines( \$self->{buffer}, $is_last );
    return $found if !ref $found;
    for my $line (@$found) {
        my $status = $self->add( $store, APR::Request::Value->new( name => $line->[0], value => $line->[1] ) );
        return $status if $status;
    }
    return 0;
}

package APR::Request::Parser::generic;

# A body of any type, for hooks only.

our @ISA = ('APR::Request::Parser');

sub take ( $self, $store, $piece, $is_last ) {
    require APR::Request::Spool;
    my $field = $self->{field} //=
        APR::Request::Value->new( name => '_dummy_', value => '', is_tainted => 0, headers => [], upload => APR::Request::Spool->new(@$self{qw(brigade_limit temp_dir)}) );
    my $status = $self->add_bytes( $field, $piece, $is_last );
    return $status || ( $is_last ? 0 : APR::Request::Decode::INCOMPLETE );
}

package APR::Request::Parser::multipart;

our @ISA = ('APR::Request::Parser');

sub take ( $self, $store, $piece, $is_last ) {
    my $multipart = $self->{multipart} //= APR::Request::Multipart->new( $self, $self->{content_type} ) // return $ERROR{GENERAL};
    return $multipart->take( $store, $piece, $is_last );
}

1;

__END__

=head1 NAME

APR::Request::Parser - parsers of request bodies

=head1 SYNOPSIS

    my $parser = APR::Request::Parser->urlencoded( $pool, $allocator, $content_type );
    my $req    = APR::Request::Custom->handle( $pool, $query, $cookies, $parser, $read_limit, $brigade );

=head1 DESCRIPTION

C<urlencoded>, C<multipart>, C<headers> (header lines) and C<generic> (any body, for hooks) make a
parser; C<default> makes the one for the content type, or returns undef. Optional arguments after
the type: the part of an upload that stays in memory, the folder for the rest, and an
L<APR::Request::Hook>.

=cut
