package APR::Request::Handle;

use v5.36;

use APR::Pool                    ();
use APR::Request::Cookie::Header ();
use APR::Request::Decode         ();
use APR::Request::Parser         ();
use APR::Request::Store          ();

# The parsed input of one request. The packages below read it from its source; Apache2's is in lib2.

use constant { PIECE => 65_536, READ_LIMIT => 64 * 1024 * 1024, BRIGADE_LIMIT => 256 * 1024 };
use constant { EINIT => APR::Request::Decode::EINIT, INCOMPLETE => APR::Request::Decode::INCOMPLETE };

my %ERROR = %APR::Request::Decode::NUMBERS;

sub new ( $class, %fields ) {
    return bless { read_limit => READ_LIMIT, brigade_limit => BRIGADE_LIMIT, bytes_read => 0, body_status => EINIT, hooks => [], %fields }, $class;
}

sub pool ($self) { return $self->{pool} //= APR::Pool->new }

sub bucket_alloc ($self) {
    require APR::BucketAlloc;
    return $self->{bucket_alloc} //= APR::BucketAlloc->new( $self->pool );
}

# Parses jar, args or body. Returns a status and a store; undef in place of the store: no such input.
sub parsed ( $self, $what ) {
    if ( $what eq 'body' ) {
        1 while $self->_read_on;
    }
    elsif ( !exists $self->{"${what}_status"} ) {
        my $text = $what eq 'jar' ? $self->cookie_header : $self->query_string;
        my $read = $what eq 'jar' ? \&APR::Request::Cookie::Header::parse : \&APR::Request::Parser::query;
        @$self{ "${what}_status", $what } = defined $text ? $read->($text) : ( $ERROR{NODATA}, undef );
    }
    return @$self{ "${what}_status", $what };
}

# The first value of a name; the body is read only as far as necessary.
sub first ( $self, $what, $name ) {
    if ( $what ne 'body' ) {
        my $store = ( $self->parsed($what) )[1];
        return $store ? scalar $store->first($name) : undef;
    }
    my $more = 1;
    while (1) {
        my $found = $self->{body} ? scalar $self->{body}->first($name) : undef;
        return $found if $found || !$more;
        $more = $self->_read_on;
    }
}

# Reads one more piece of the body. Returns false at its end, or when it is not wanted.
sub _read_on ($self) {
    $self->{body_status} = $self->_begin_body if $self->{body_status} == EINIT;
    return 0 if $self->{body_status} != INCOMPLETE;
    my $piece = eval { $self->read_piece(PIECE) };
    if ( !defined $piece ) {
        warn "APR::Request: the body cannot be read: $@" if $@;
        $self->{body_status} = $ERROR{GENERAL};
        return 0;
    }
    $self->{bytes_read} += length $piece;
    $self->{body_status} =
        $self->{bytes_read} > $self->{read_limit} ? $ERROR{OVERLIMIT} : $self->{parser}->feed( $self->{body}, $piece, length $piece == 0 );
    return $self->{body_status} == INCOMPLETE;
}

sub _begin_body ($self) {
    my $status = $self->refusal;
    return $status if $status;
    if ( !$self->{parser} ) {
        my $type = $self->content_type // return $ERROR{NOHEADER};
        $self->{parser} = APR::Request::Parser->for_type( $type, $self, @$self{qw(brigade_limit temp_dir)} ) // return $ERROR{NOPARSER};
    }
    $self->{parser}->add_hook($_) for reverse splice @{ $self->{hooks} };
    $self->{body} = APR::Request::Store->new;
    return INCOMPLETE;
}

# The status of a body whose headers forbid reading it; else 0.
sub refusal ($self) {
    my $length = $self->content_length // return 0;
    return $ERROR{BADHEADER} if $length !~ /\A\s*\d+\z/a;
    return $length > $self->{read_limit} ? $ERROR{OVERLIMIT} : 0;
}

sub add_hook ( $self, $hook ) {
    $self->{parser} ? $self->{parser}->add_hook($hook) : push @{ $self->{hooks} }, $hook;
    return;
}

sub set ( $self, $setting, $value ) {
    my $check = $self->can("set_$setting");
    return $self->$check($value);
}

# The limit can only be lowered, so that no handler can undo another's.
sub set_read_limit ( $self, $value ) {
    my $limit = _bytes($value);
    return $ERROR{MISMATCH} if $limit >= $self->{read_limit} || $limit <= $self->{bytes_read};
    $self->{read_limit} = $limit;
    return 0;
}

sub set_brigade_limit ( $self, $value ) {
    my $limit = _bytes($value);
    return $ERROR{MISMATCH} if $self->{body_status} != EINIT && $limit >= $self->{brigade_limit};
    $self->{brigade_limit} = $limit;
    $self->{parser}{brigade_limit} = $limit if $self->{parser};
    return 0;
}

sub set_temp_dir ( $self, $folder ) {
    return $ERROR{NOTEMPTY} if defined $self->{temp_dir} || $self->{bytes_read};
    $self->{temp_dir} = $folder;
    return 0;
}

# `1000000`, `64K`, `1M`
sub _bytes ($value) {
    my ( $number, $unit ) = ( $value // '' ) =~ /\A\s*(\d+)\s*([KMG]?)/ai;
    return ( $number // 0 ) * { '' => 1, K => 1 << 10, M => 1 << 20, G => 1 << 30 }->{ uc( $unit // '' ) };
}

package APR::Request::Handle::Texts;

# Input from texts and a brigade that a program passes.

our @ISA = ('APR::Request::Handle');

sub new ( $class, %fields ) {
    my $self = $class->SUPER::new(%fields);
    $self->{brigade_limit} = $self->{parser}{brigade_limit} if $self->{parser};
    $self->{temp_dir}      = $self->{parser}{temp_dir}      if $self->{parser};
    return $self;
}

sub query_string   ($self) { return $self->{query} }
sub cookie_header  ($self) { return $self->{cookies} }
sub content_length ($self) { return undef }                                      ## no critic: a scalar is expected
sub content_type   ($self) { return undef }                                      ## no critic: a scalar is expected
sub refusal        ($self) { return $self->{brigade} ? 0 : $ERROR{NODATA} }
sub bucket_alloc   ($self) { return $self->{bucket_alloc} //= $self->{brigade} ? $self->{brigade}->bucket_alloc : $self->SUPER::bucket_alloc }

sub set ( $self, @ ) { return 70_023 }    # APR_ENOTIMPL: the constructor has set everything

sub read_piece ( $self, $length ) {
    my $bytes = APR::Brigade::_take( $self->{brigade}, $length );
    return $bytes // '';
}

package APR::Request::Handle::Environment;

# Input of a CGI program.

our @ISA = ('APR::Request::Handle');

sub query_string   ($self) { return $ENV{QUERY_STRING} }
sub cookie_header  ($self) { return $ENV{HTTP_COOKIE} }
sub content_type   ($self) { return $ENV{CONTENT_TYPE} }
sub content_length ($self) { return length( $ENV{CONTENT_LENGTH} // '' ) ? $ENV{CONTENT_LENGTH} : undef }

# Reads at most up to the Content-Length, if there is one.
sub read_piece ( $self, $length ) {
    my $left = ( $self->content_length // "inf" ) - $self->{bytes_read};
    return '' if $left <= 0;
    my $got = read STDIN, my $piece, $left < $length ? $left : $length;
    return defined $got ? $piece : die "$!\n";
}

1;

__END__

=head1 NAME

APR::Request::Handle - sources and parsed input of a request

=head1 DESCRIPTION

The object behind the objects of L<APR::Request>: all objects of one request share a handle. A
subclass has C<query_string>, C<cookie_header>, C<content_type> and C<content_length>, and reads a
piece of the body.

=cut
