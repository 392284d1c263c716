package APR::Request;

use v5.36;

use APR::Pool             ();
use APR::Request::Cookie  ();
use APR::Request::Decode  ();
use APR::Request::Handle  ();
use APR::Request::Param   ();
use Scalar::Util          ();

our $VERSION = '2.17';

# Names that a program wants as its own subs: encode, decode.
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

# What an object stands for. A program's own class keeps one of ours in {r} or {_r}.
sub handle_of ($self) {
    for ( 1 .. 100 ) {
        last if !Scalar::Util::blessed($self);
        return $self->_handle if $self->can('_handle') && Scalar::Util::reftype($self) ne 'HASH';
        last if Scalar::Util::reftype($self) ne 'HASH';
        $self = $self->{r} // $self->{_r};
    }
    require Carp;
    Carp::croak('not an APR::Request object, and nothing in its {r} or {_r} is one');
}

# An object that keeps its handle itself: that of a CGI program, or of texts.
sub _handle ($self) { return $$self }

sub pool         ($self) { return handle_of($self)->pool }
sub bucket_alloc ($self) { return handle_of($self)->bucket_alloc }

sub jar  { return _asked( 'jar',  @_ ) }
sub args { return _asked( 'args', @_ ) }
sub body { return _asked( 'body', @_ ) }

# Names, values or a table, as the context wants. An exception tells what was wrong with what was sent, where an answer might be wrong for it.
sub _asked ( $what, $self, @name ) {
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

# Of the address first, then of the body. What was wrong with them is no exception here: param_status says it.
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

# Both, or the one that matters: what is wrong with the address comes first.
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

# It is called with (upload, bytes), and with undef behind the last of them.
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
    my @names = $req->param;                 # in order, as often as they came
    my $table = $req->body;                  # an APR::Request::Param::Table
    my $id    = $req->jar('session');        # a cookie, as it was sent

    my $status = $req->body_status;          # a number and a text
    die "$status" if $status != APR::Const::SUCCESS;

    use APR::Request qw(encode decode);
    my $text = APR::Request::Custom->handle( $pool, 'a=1&b=2', 'session=1', $parser, 1_000_000, $brigade )->param('b');

=head1 DESCRIPTION

C<args> is what came with the address, C<body> what came in the body (C<application/x-www-form-urlencoded>, C<multipart/form-data>,
C<multipart/related>), C<param> both, C<jar> the cookies. Without a name they return a table, in list context the names; with
one the first value, in list context all. Names ignore case. Nothing is read before it is asked for, and
C<< scalar $req->body($name) >> reads only as far as it must. A body of another type stays as it is, for C<< $r->read >>, which finds
all of it whatever was parsed.

C<args_status body_status jar_status> say how that went: 0, or a number of L<APR::Request::Error>, or one of L<APR::Const>. They are
texts as well, so compare them as numbers. C<param_status> is C<args_status> when that is an error, else C<body_status>, and both in list context.
C<parse> reads all of it and returns the statuses of jar, args and body, in scalar context that of the body.

Where a status is an error, C<args>, C<body>, C<jar> and C<upload> throw an L<APR::Request::Error>, unless what was asked for stands in what could be
parsed and is a scalar. C<param> never throws. That no body, no cookie, or a body of another type came is no error: they return
nothing then.

C<read_limit> (64 MB) is how long a body may be, C<brigade_limit> (256 KB) how much of an upload stays in memory, C<temp_dir> where the rest
goes. The limit can be lowered only, a folder said once: else they return false, in void context they throw. More than 10000 fields
are an error (C<OVERLIMIT>) as well.

C<disable_uploads> makes an upload an error, C<< upload_hook($code) >> calls the code for each piece of one. C<encode> and C<decode> are those of
addresses.

=cut
