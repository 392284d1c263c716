package APR::Request;

use v5.36;

use APR::Pool             ();
use APR::Request::Cookie  ();
use APR::Request::Decode  ();
use APR::Request::Handle  ();
use APR::Request::Param   ();
use Scalar::Util          ();

our $VERSION = '2.17';

# Exports encode and decode.
sub import ( $class, @names ) {
    my $package = caller;
    for my $name (@names) {
        my $code = $class->can($name) // die "$class has no $name\n";
        no strict 'refs';
        *{"${package}::$name"} = $code;
    }
    return;
}

sub encode ($text) { return APR::Request::Decode::encoded($text) }
sub decode ($text) { return ( APR::Request::Decode::decoded($text) )[0] }

# The handle behind an object. A program's own class stores an APR::Request object in {r} or {_r}.
sub handle_of ($self) {
    for ( 1 .. 100 ) {
        last if !Scalar::Util::blessed($self);
        return $self->_handle if $self->can('_handle') && Scalar::Util::reftype($self) ne 'HASH';
        last if Scalar::Util::reftype($self) ne 'HASH';
        $self = $self->{r} // $self->{_r};
    }
    require Carp;
    Carp::croak('expected an APR::Request object, or a hash with one in {r} or {_r}');
}

# Objects of a CGI program or of given texts hold their handle directly.
sub _handle ($self) { return $$self }

sub pool         ($self) { return handle_of($self)->pool }
sub bucket_alloc ($self) { return handle_of($self)->bucket_alloc }

sub jar  { return _values( 'jar',  @_ ) }
sub args { return _values( 'args', @_ ) }
sub body { return _values( 'body', @_ ) }

# Returns names, values or a table, by context. Throws an exception if the input was invalid and the result
# might be wrong.
sub _values ( $what, $self, @name ) {
    my $handle = handle_of($self);
    if ( @name && !wantarray ) {
        my $found = $handle->first( $what, $name[0] );
        return $found->plain if $found;
    }
    my ( $status, $store ) = $handle->parsed($what);
    _refuse( $self, $status, $what ) if APR::Request::Decode::is_error($status) && !$self->isa('APR::Request::Error');
    return if !$store;
    return _names_or_values( $store, @name ) if wantarray;
    return                                   if @name;
    return $store->table( $what eq 'jar' ? 'APR::Request::Cookie::Table' : 'APR::Request::Param::Table' );
}

sub _names_or_values ( $store, @name ) { return @name ? map { $_->plain } $store->named( $name[0] ) : map { $_->{name} } $store->all }

# Values of the query precede those of the body. Invalid input does not throw in this method: see param_status.
sub param ( $self, @name ) {
    my $handle = handle_of($self);
    if ( @name && !wantarray ) {
        my $found = $handle->first( 'args', $name[0] ) // $handle->first( 'body', $name[0] );
        return $found ? $found->plain : undef;    ## no critic: a scalar is expected
    }
    my @stores = grep { defined } map { ( $handle->parsed($_) )[1] } qw(args body);
    return map { _names_or_values( $_, @name ) } @stores if wantarray;
    return undef if !@stores;    ## no critic: a scalar is expected
    $handle->{both} //= APR::Request::Store->joined(@stores);
    return $handle->{both}->table('APR::Request::Param::Table');
}

sub _refuse ( $self, $status, $what ) {
    require APR::Request::Error;
    die APR::Request::Error->of( $status, "APR::Request::$what", $self );
}

sub jar_status  ($self) { return _status( $self, 'jar' ) }
sub args_status ($self) { return _status( $self, 'args' ) }
sub body_status ($self) { return _status( $self, 'body' ) }

sub _status ( $self, $what ) { return APR::Request::Decode::status_value( ( handle_of($self)->parsed($what) )[0] ) }

# In list context both statuses; in scalar context the query's if it is an error, else the body's.
sub param_status ($self) {
    my @both = ( $self->APR::Request::args_status, $self->APR::Request::body_status );
    return @both if wantarray;
    return APR::Request::Decode::is_error( $both[0] ) ? $both[0] : $both[1];
}

sub parse ($self) { return map { _status( $self, $_ ) } wantarray ? qw(jar args body) : 'body' }

sub upload ( $self, @name ) {
    my $body    = $self->body or return;
    $body->param_class('APR::Request::Param');
    return $body->_uploads_of( $name[0] ) if @name;
    my $uploads = $body->uploads( $self->pool );
    return wantarray ? keys %$uploads : $uploads;
}

for my $setting (qw(read_limit brigade_limit temp_dir)) {
    no strict 'refs';
    *$setting = sub ( $self, @new ) {
        my $handle = handle_of($self);
        return $handle->{$setting} if !@new;
        my $status = $handle->set( $setting, $new[0] );
        return !!1 if !$status;
        return !!0 if defined wantarray || $self->isa('APR::Request::Error');
        _refuse( $self, $status, $setting );
    };
}

sub disable_uploads ($self) {
    require APR::Request::Hook;
    handle_of($self)->add_hook( APR::Request::Hook->disable_uploads( $self->pool ) );
    return APR::Request::Decode::status_value(0);
}

# The hook is called with (upload, bytes), and with undef for the bytes at the end.
sub upload_hook ( $self, $code, @data ) {
    require APR::Request::Hook;
    handle_of($self)->add_hook( APR::Request::Hook->calling( $code, @data ) );
    return;
}

package APR::Request::Custom;

our @ISA = ('APR::Request');

sub handle ( $class, $pool, $query, $cookies, $parser, $read_limit, $brigade ) {
    my $handle = APR::Request::Handle::Texts->new(
        query => $query, cookies => $cookies, parser => $parser, read_limit => $read_limit, brigade => $brigade, pool => $pool,
    );
    return bless \$handle, $class;
}

1;

__END__

=head1 NAME

APR::Request - parameters, uploads and cookies of a request (libapreq 2)

=head1 SYNOPSIS

    use APR::Request::CGI ();                # APR::Request::Apache2->handle($r) in a handler

    my $req   = APR::Request::CGI->handle($pool);
    my $first = $req->param('box');
    my @boxes = $req->param('box');
    my @names = $req->param;                 # in order, with duplicates
    my $table = $req->body;                  # an APR::Request::Param::Table
    my $id    = $req->jar('session');        # a cookie, undecoded

    my $status = $req->body_status;          # a number and a text
    die "$status" if $status != APR::Const::SUCCESS;

    use APR::Request qw(encode decode);
    my $text = APR::Request::Custom->handle( $pool, 'a=1&b=2', 'session=1', $parser, 1_000_000, $brigade )->param('b');

=head1 DESCRIPTION

C<args> has the parameters of the query, C<body> those of the body
(C<application/x-www-form-urlencoded>, C<multipart/form-data>, C<multipart/related>), C<param> both,
C<jar> the cookies. Without a name they return a table, in list context the names; with a name the
first value, in list context all. Names ignore case. Input is parsed on first use, and C<< scalar
$req->body($name) >> reads only as far as necessary. A body of another type is left for C<< $r->read
>>, which always returns the whole body, parsed or not.

C<args_status body_status jar_status> return 0, or a number of L<APR::Request::Error> or
L<APR::Const>. Statuses are also texts, so compare them as numbers. C<param_status> is
C<args_status> when that is an error, else C<body_status>; in list context both. C<parse> reads all
input and returns the statuses of jar, args and body, in scalar context that of the body.

Where a status is an error, C<args>, C<body>, C<jar> and C<upload> throw an L<APR::Request::Error>,
unless you ask for one value in scalar context and it is in the part that could be parsed. C<param>
never throws. A missing body, missing cookies or a body of another type are no errors: the methods
then return nothing.

C<read_limit> (64 MB) is the longest body, C<brigade_limit> (256 KB) the part of an upload that
stays in memory, C<temp_dir> the folder for the rest. The read limit can only be lowered, and the
folder be set only once: else the methods return false, and throw in void context. More than 10000
fields are an error (C<OVERLIMIT>), too.

C<disable_uploads> makes an upload an error, C<< upload_hook($code) >> calls the code for each piece
of one. C<encode> and C<decode> are for URL encoding.

=cut
