package APR::Request::Cookie;

use v5.36;

use APR::Date                    ();
use APR::Request                 ();
use APR::Request::Cookie::Header ();
use APR::Request::Store          ();
use APR::Request::Value          ();

our $VERSION = '2.17';

use overload '""' => sub { $_[0]->APR::Request::Cookie::value }, fallback => 1;

sub _behind ($self) { return APR::Request::Value::behind( $self, 'c' ) }

# Field names may begin with a dash. Returns nothing without a name and a value.
sub new ( $class, $pool, %fields ) {
    %fields = map { ( s/\A-//r => $fields{$_} ) } keys %fields;
    my ( $name, $value ) = delete @fields{qw(name value)};
    return if !defined $name || !defined $value;
    my $cookie = $class->make( $pool, $name, $class->freeze($value) );
    $cookie->$_( $fields{$_} ) for keys %fields;
    return $cookie;
}

sub make ( $class, $pool, $name, $value ) {
    return APR::Request::Value->new( name => "$name", value => "$value", is_tainted => 0, charset => 0, version => 0 )->as($class);
}

sub freeze ( $class, $value ) { return $value }
sub thaw   ($self)            { return $self->value }

sub name       ($self)         { return _behind($self)->{name} }
sub value      ( $self, @ )    { return _behind($self)->{value} }
sub is_tainted ( $self, @new ) { return _behind($self)->flag( 'is_tainted', @new ) }
sub secure     ( $self, @new ) { return _behind($self)->flag( 'secure', @new ) }
sub httponly   ( $self, @new ) { return _behind($self)->flag( 'httponly', @new ) }

for my $field (qw(path domain port comment commentURL version)) {
    no strict 'refs';
    *$field = sub ( $self, @new ) {
        my $behind = _behind($self);
        my $before = $behind->{$field};
        $behind->{$field} = $field eq 'version' ? int( $new[0] // 0 ) : $new[0] if @new;
        return $before;
    };
}

# `+3M`, `now` or a date; undef for a session cookie. Without an argument returns the date.
sub expires ( $self, @new ) {
    my $behind = _behind($self);
    set_expires( $behind, $new[0] ) if @new;
    return defined $behind->{max_age} ? _date( $behind->{max_age} ) : undef;
}

my %SECONDS = ( y => 31_536_000, M => 2_592_000, d => 86_400, h => 3600, m => 60, s => 1 );

sub set_expires ( $behind, $text ) {
    $behind->{max_age} = !defined $text ? undef : lc $text eq 'now' ? 0 : _age($text);
    return;
}

sub _age ($text) {
    my $date = APR::Date::parse_rfc($text);
    return $date - time if $date;
    my ( $number, $unit ) = $text =~ /\A\s*([+-]?\d+)\s*([A-Za-z]?)/a or return 0;
    return $number * ( $SECONDS{$unit} // $SECONDS{ lc $unit =~ tr/m//dr } // 1 );
}

my @DAYS   = qw(Sun Mon Tue Wed Thu Fri Sat);
my @MONTHS = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);

sub _date ($age) {
    my ( $second, $minute, $hour, $day, $month, $year, $weekday ) = gmtime( time + $age );
    return sprintf '%s, %02d-%s-%04d %02d:%02d:%02d GMT', $DAYS[$weekday], $day, $MONTHS[$month], $year + 1900, $hour, $minute, $second;
}

# The value of a Set-Cookie header; with a version above 0, of Set-Cookie2.
sub as_string ($self) {
    my $behind = _behind($self);
    my $is_rfc = $behind->{version};
    my @parts  = "$behind->{name}=$behind->{value}";
    push @parts, "Version=$behind->{version}" if $is_rfc;
    for my $field ( $is_rfc ? qw(path domain port comment commentURL) : qw(path domain) ) {
        my $value = $behind->{$field} // next;
        push @parts, $is_rfc && $value !~ /\A"/ ? qq($field="$value") : "$field=$value";
    }
    push @parts, $is_rfc ? "max-age=$behind->{max_age}" : 'expires=' . _date( $behind->{max_age} ) if defined $behind->{max_age};
    push @parts, 'secure'   if $behind->{secure};
    push @parts, 'HttpOnly' if $behind->{httponly};
    return join '; ', @parts;
}

package APR::Request::Cookie::Table;

our @ISA = ('APR::Request::Table');

sub cookie_class ( $self, @new ) { return $self->_class_of_values( 'APR::Request::Cookie', @new ) }

1;

__END__

=head1 NAME

APR::Request::Cookie - one cookie

=head1 SYNOPSIS

    my $jar = $req->jar;
    $jar->cookie_class('APR::Request::Cookie');
    print $_->name, '=', $_->value for values %$jar;

    my $cookie = APR::Request::Cookie->new( $req->pool, name => 'session', value => $id, path => '/', expires => '+3M', httponly => 1 );
    $r->err_headers_out->add( 'Set-Cookie' => $cookie->as_string );

=head1 DESCRIPTION

C<path domain port comment commentURL version secure httponly is_tainted> return the old value, and
set the new one if there is an argument. C<expires> understands C<now>, a date, or a number of
seconds or with C<s m h d M y>. C<make> is like C<new>, with a pool, a name and a value only.
Subclasses override C<freeze> and C<thaw> to store structured values: see L<Apache2::Cookie>. As a
string, a cookie is its value.

=cut
