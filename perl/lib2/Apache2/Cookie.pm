package Apache2::Cookie;

use v5.36;

use APR::Request          ();
use APR::Request::Apache2 ();
use APR::Request::Cookie  ();
use Apache2::RequestRec   ();
use Apache2::RequestUtil  ();
use Cameleer::ModPerl2    ();
use Scalar::Util          ();

our @ISA     = ('APR::Request::Cookie');
our $VERSION = '2.17';

use overload '""' => sub { $_[0]->as_string }, fallback => 1;

sub new ( $class, $r, %fields ) { return $class->SUPER::new( $r->pool, %fields ) }

sub set_attr ( $self, %fields ) {
    for my $name ( keys %fields ) {
        my $method = $name =~ s/\A-//r;
        $self->$method( $fields{$name} );
    }
    return;
}

# Returns all cookies as a table, in list context as names and cookies; or the cookies of one name.
sub fetch ( $class, $r = undef, @name ) {
    $r //= eval { Apache2::RequestUtil->request }
        // Cameleer::ModPerl2::croak("Apache2::Cookie->fetch(\$r) was called without \$r, and there is no global one: $@");
    my $request = $r->isa('APR::Request') ? $r : APR::Request::Apache2->handle($r);
    my $jar     = $request->jar or return;
    $jar->cookie_class(__PACKAGE__);
    return $jar->get(@name) if @name;
    return wantarray ? %$jar : $jar;
}

# Encodes a text, or the elements of an array or hash.
sub freeze ( $class, $value ) {
    my $type = Scalar::Util::reftype($value) // return APR::Request::encode($value);
    return join '&', map { APR::Request::encode($_) } @$value if $type eq 'ARRAY';
    return join '&', map { APR::Request::encode($_) } %$value if $type eq 'HASH';
    Cameleer::ModPerl2::croak("expected a string, an array or a hash as a cookie's value, got $value");
}

sub thaw ( $self, @text ) {
    my @words = map { APR::Request::decode($_) } split /&/, @text ? $text[0] : $self->raw_value;
    return wantarray ? @words : $words[0] // '';
}

sub raw_value ($self) { return $self->SUPER::value }
sub value ( $self, @ ) { return $self->thaw }

sub bake ( $self, $r ) {
    $r->err_headers_out->add( 'Set-Cookie' => $self->as_string );
    return;
}

sub bake2 ( $self, $r ) {
    Cameleer::ModPerl2::croak("this cookie has no version, which Set-Cookie2 needs: $self") if !$self->version;
    $r->err_headers_out->add( 'Set-Cookie2' => $self->as_string );
    return;
}

package Apache2::Cookie::Jar;

our @ISA = ('APR::Request::Apache2');

sub new ( $class, $r, %settings ) {
    my $self = $class->APR::Request::Apache2::handle($r);
    for my $name ( keys %settings ) {
        my $method = lc $name =~ s/\A-//r;
        $self->$method( $settings{$name} );
    }
    return $self;
}

sub cookies ( $self, @name ) {
    return Apache2::Cookie->fetch( $self, @name ) if @name;
    my $jar = Apache2::Cookie->fetch($self);
    return wantarray ? keys %{ $jar // {} } : $jar;
}

sub status ($self) { return $self->jar_status }

1;

__END__

=head1 NAME

Apache2::Cookie, Apache2::Cookie::Jar - cookies of a request of mod_perl 2 (libapreq 2)

=head1 SYNOPSIS

    use Apache2::Cookie ();

    my $jar    = Apache2::Cookie::Jar->new($r);
    my $cookie = $jar->cookies('session');
    my @names  = $jar->cookies;
    my %all    = Apache2::Cookie->fetch($r);

    Apache2::Cookie->new( $r, -name => 'session', -value => [ $id, $time ], -expires => '+3M', -path => '/', -httponly => 1 )->bake($r);

=head1 DESCRIPTION

C<value> returns the value given to C<new>: a text, or in list context the elements of an array or
hash; C<raw_value> is the encoded value. As a string, a cookie is its C<as_string>. C<bake> adds a
C<Set-Cookie> header, which errors and redirects also have; C<bake2> adds a C<Set-Cookie2> for a
cookie with a C<version>. All other methods are those of L<APR::Request::Cookie>.

C<fetch>, C<cookies> and C<jar> throw an L<APR::Request::Error> if the header is invalid in some
place, except C<< scalar $req->jar($name) >> for a cookie that could be parsed. C<status> of a jar
returns the status without an exception.

=cut
