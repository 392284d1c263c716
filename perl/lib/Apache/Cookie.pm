package Apache::Cookie;

use v5.36;

use Apache       ();
use Apache::Util ();

sub new ( $class, $r, @pairs ) {
    my $self = bless { r => $r, path => _folder( $r->script_name ), values => [] }, ref $class || $class;
    while ( my ( $name, $value ) = splice @pairs, 0, 2 ) {
        $self->_set( $name =~ s/\A-//r, $value );
    }
    return $self;
}

sub _folder ($path) { return substr $path, 0, 1 + rindex $path, '/' }

sub _set ( $self, $name, $value ) {
    return $self->value($value) if $name =~ /\Avalues?\z/;
    my $method = $name =~ /\A(?:name|expires|domain|path|secure)\z/ && $self->can($name);
    return $self->$method($value) if $method;
    $self->{r}->log_error("[libapreq] unknown cookie pair: `$name' => `$value'");
    return;
}

# A method called on the class uses a new cookie: `Apache::Cookie->expires('-1d')` returns the date.
sub _of ($self) { return ref $self ? $self : $self->new( Apache->request ) }

for my $part (qw(name domain path)) {
    no strict 'refs';
    *$part = sub {
        my $self   = _of(shift);
        my $before = $self->{$part};
        $self->{$part} = shift if @_;
        return $before;
    };
}

sub value ( $self, @new ) {
    $self = _of($self);
    my @before = @{ $self->{values} };
    if (@new) {
        my $new = $new[0];
        $self->{values} = ref $new eq 'ARRAY' ? [@$new] : ref $new eq 'HASH' ? [%$new] : [ $new // '' ];
    }
    return wantarray ? @before : $before[0];
}

sub expires ( $self, @new ) {
    $self = _of($self);
    $self->{expires} = date( $new[0], '-' ) if @new && defined $new[0];
    return $self->{expires};
}

sub secure ( $self, @new ) {
    $self = _of($self);
    $self->{secure} = $new[0] && lc $new[0] ne 'off' ? 1 : 0 if @new;
    return $self->{secure} ? 'on' : '';
}

my %SECONDS = ( s => 1, m => 60, h => 3600, d => 86_400, M => 2_592_000, y => 31_536_000 );

# `+3M`, `-1d`, `now`; other texts are dates already. Cookies' dates have dashes, HTTP's have spaces.
sub date ( $text, $dash ) {
    my ( $sign, $count, $unit ) = $text =~ /\A([+-]?)(\d+)([smhdMy]?)\z/;
    return $text unless lc $text eq 'now' || ( defined $sign && $sign ne '' );
    my $seconds = ( $count // 0 ) * ( $SECONDS{ $unit || 's' } );
    return Apache::Util::ht_time( time + ( ( $sign // '' ) eq '-' ? -$seconds : $seconds ), "%a, %d$dash%b$dash%Y %T %Z" );
}

sub as_string ($self) {
    return '' unless defined $self->{name};
    my @parts = ( _escaped( $self->{name} ) . '=' . join '&', map { _escaped($_) } @{ $self->{values} } );
    push @parts, map { "$_=$self->{$_}" } grep { length( $self->{$_} // '' ) } qw(domain path expires);
    push @parts, 'secure' if $self->{secure};
    return join '; ', @parts;
}

sub _escaped ($text) {
    return Apache::Util::escape_uri($text) =~ s/([&=,])/sprintf '%%%02x', ord $1/egr;
}

sub bake ($self) {
    $self->{r}->err_headers_out->add( 'Set-Cookie' => $self->as_string );
    return;
}

# Parses a string, or the request's header. Returns names and cookies, or a hash of them in scalar context.
sub parse ( $self, $text = undef ) {
    my $r = ref $self ? $self->{r} : Apache->request;
    $text //= $r->header_in('Cookie') // return;
    my @cookies = map { _parsed( $r, $_ ) } grep { $_ ne '' } split /;\s*/, $text;
    return unless @cookies;
    return wantarray ? map { ( $_->name, $_ ) } @cookies : { map { ( $_->name, $_ ) } @cookies };
}

sub fetch ($class) { return $class->parse }

sub _parsed ( $r, $pair ) {
    my ( $name, $values ) = split /=/, $pair, 2;
    my @values = map { Apache::unescape_url($_) } split /&/, $values // '', -1;
    return Apache::Cookie->new( $r, -name => Apache::unescape_url($name), -value => [ @values ? @values : '' ] );
}

1;

__END__

=head1 NAME

Apache::Cookie - cookies (libapreq 1)

=head1 SYNOPSIS

    use Apache::Cookie ();

    my $cookie = Apache::Cookie->new( $r,
        -name    => 'session',
        -value   => $id,            # or an array, or a hash
        -expires => '+3M',
        -domain  => '.example.org',
        -path    => '/shop',
        -secure  => 1,
    );
    $cookie->bake;

    my %cookies = Apache::Cookie->fetch;
    print $cookies{session}->value if $cookies{session};

=head1 DESCRIPTION

C<name value expires domain path secure> return the value, and set it if there is an argument;
C<value> returns a list in list context. The path defaults to the script's folder.

C<expires>, also as C<< Apache::Cookie->expires('-1d') >>, returns the date. It takes C<now>, or a
number with a sign and one of C<s m h d M y> (C<+10m>, C<-1d>); other texts are dates already.

C<bake> adds a C<Set-Cookie> header, which errors and redirects also have. C<as_string> is the
header's value.

C<parse(TEXT)> and C<fetch> return names and cookies, in scalar context a reference to a hash;
nothing when there are no cookies.

=cut
