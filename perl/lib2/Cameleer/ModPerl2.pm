package Cameleer::ModPerl2;

use v5.36;

use Cameleer::XS ();

Cameleer::XS::load(__PACKAGE__);

# The API of mod_perl 2, on the records of mod_perl 1's. A class has only the methods of loaded modules: without
# `use Apache2::RequestIO`, print dies, as in mod_perl 2.

# Methods that the server's own code calls on $r.
my @INNER = qw(number want_cleanup current_callback dispatcher _stack_touched _configured);

# An APR address from its text.
sub address ( $ip, $port ) {
    require APR::SockAddr;
    require Cameleer::Pools;
    return APR::SockAddr->new( Cameleer::Pools::of_request( Apache->request ), $ip, $port );
}

# For a connection that the front has handed over: its descriptor, and the client timeout in microseconds.
my @CONNECTION;

sub begin_connection ($words) {
    require Apache2::Connection;
    @CONNECTION = split /\0/, $words;
    return;
}

sub is_connection () { return scalar @CONNECTION }

# A request's socket belongs to the front. This returns a socket without data.
sub client_socket ($c) {
    require APR::Socket;
    require Socket;
    return of_request($c)->{socket} //= @CONNECTION ? own_socket($c) : do {
        socketpair my $ours, my $theirs, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!\n";
        of_request($c)->{peers} = [ $ours, $theirs ];
        APR::Socket->from_fileno( $c->pool, fileno $ours );
    };
}

sub own_socket ($c) {
    my ( $descriptor, $patience ) = @CONNECTION;
    my $socket = APR::Socket->from_fileno( $c->pool, $descriptor );
    $socket->timeout_set($patience);
    return bless $socket, 'Cameleer::ClientSocket';
}

# Runs before the site's first module.
sub begin {
    $ENV{MOD_PERL_API_VERSION} = 2;
    {
        local $INC{'mod_perl.pm'} = __FILE__;    # Apache.pm requires mod_perl 1's, which this process does not use
        require Apache;
    }
    Apache::_speak(2);
    @Apache2::SubRequest::ISA = ('Apache2::RequestRec');
    %Apache::Phases::ONE_IS_ENOUGH = map { ( "Perl${_}Handler" => 1 ) } qw(Trans MapToStorage Authen Authz Type Response);
    lend( 'Apache', 'Apache2::RequestRec', @INNER );
    *Apache2::SubRequest::DESTROY = \&Apache::SubRequest::DESTROY;
    $Apache2::__T = ${^TAINT} ? 1 : 0;
    Internals::SvREADONLY( $Apache2::__T, 1 );
    *0 = \( my $program = readlink('/proc/self/exe') // $^X );    # perl's own $0 is the process title, which the server sets
    require Apache2::Process;
    require ModPerl::Util;         # exit, in all code that is compiled later
    require Cameleer::ModPerl1;
    Cameleer::ModPerl1::hide();
    return;
}

# Copies methods from one class to another.
sub lend ( $from, $to, @names ) {
    no strict 'refs';
    for my $name (@names) {
        my $code = $from->can($name) // die "$from has no $name\n";
        *{"${to}::$name"} = $code;
    }
    return;
}

# The request as an object of mod_perl 1's API, for modules of that API, and back.
sub as_mod_perl_1 ($r) { return bless \( my $number = $$r ), $r->isa('Apache2::SubRequest') ? 'Apache::SubRequest' : 'Apache' }
sub as_mod_perl_2 ($r) { return bless \( my $number = $$r ), 'Apache2::RequestRec' }

# Defines methods for values that only Perl code uses, such as `$r->assbackwards`, with their defaults.
sub fields ( $class, %defaults ) {
    no strict 'refs';
    for my $name ( keys %defaults ) {
        *{"${class}::$name"} = sub ( $r, @new ) {
            my $fields = of_request($r);
            my $before = $fields->{$name} // $defaults{$name};
            $fields->{$name} = $new[0] if @new;
            return $before;
        };
    }
    return;
}

# The request that Apache2::RequestUtil->request was given, until this request ends.
my $GIVEN;

# Data of mod_perl 2's modules about a request, by the bytes of its record's number.
our %OF_REQUEST;

# Called at the end of a request.
sub forget {
    undef $GIVEN;
    @CONNECTION = ();
    my @pools = grep { defined } map { delete @$_{qw(pool connection_pool)} } values %OF_REQUEST;
    Cameleer::Pools::end($_) for @pools;
    %OF_REQUEST = ();
    return;
}

# Closing a client's socket shuts it down, because other processes also have a descriptor: the client sees the end
# immediately.
package Cameleer::ClientSocket {
    our @ISA = ('APR::Socket');

    sub close ($socket) {
        my $fileno = $socket->fileno;
        if ( $fileno >= 0 && open my $copy, '+<&', $fileno ) { shutdown $copy, 2 }
        return $socket->SUPER::close;
    }
}

# Replaces the pairs of a table by those of another.
sub replace ( $table, $other ) {
    my @pairs;
    $other->do( sub ( $name, $value ) { push @pairs, [ $name, $value ]; 1 } );
    $table->clear;
    $table->add(@$_) for @pairs;
    return;
}

# --- the request

# Implements `pnotes` of a request or connection, with a name and an optional value. The hash aliases the
# caller's scalar: later changes of the scalar change the note. A setter returns the new value.
sub note {
    my ( $notes, $name ) = @_;
    use feature 'refaliasing';
    no warnings 'experimental::refaliasing';
    \$notes->{$name} = \$_[2] if @_ > 2;
    return $notes->{$name};
}

sub global_request (@new) {
    my $r = Apache->request;
    if (@new) {
        my $before = $GIVEN;
        $GIVEN = $new[0];
        return $before;
    }
    return $GIVEN if $GIVEN;
    return $r if $r && has_option( $r, 'GlobalRequest' );
    croak('Global $r object is not available. Set:' . "\n\tPerlOptions +GlobalRequest\n" . 'in httpd.conf');
}

# Reads the body in pieces; returns 0 at its end. An undefined buffer counts as empty.
sub read_body {
    my ( $r, undef, $length, $offset ) = @_;
    croak("The LENGTH argument can't be negative") if $length < 0;
    my $kept = kept_of($r);
    goto &Cameleer::Filters::read_body if $kept && $kept->{filters} && $kept->{filters}{input};
    $_[1] //= '';
    return Apache::read( $r, $_[1], $length, $offset // 0 );
}

# Called by the server to check or insert filters.
sub check_filters  ($words) { require Cameleer::Filters; return Cameleer::Filters::check($words) }
sub insert_filters ($words) { require Cameleer::Filters; return Cameleer::Filters::insert($words) }

# The result of a PerlAddAuthnProvider for the client's user and password.
sub authenticate ($handler) {
    require Apache2::Access;
    require Apache2::Const;
    Apache2::Const->import( -compile => qw(OK DECLINED AUTH_REQUIRED :authn_status) );
    my $r = Apache->request;
    my ( $status, $password ) = $r->get_basic_auth_pw;
    return $status if $status != Apache2::Const::OK();
    my $outcome = Apache::Phases::code($handler)->( $r, $r->user, $password );
    return Apache2::Const::OK()       if $outcome == Apache2::Const::AUTH_GRANTED();
    return Apache2::Const::DECLINED() if $outcome == Apache2::Const::AUTH_USER_NOT_FOUND();
    die "the provider $handler returned \"$outcome\"\n" if $outcome != Apache2::Const::AUTH_DENIED();
    $r->note_basic_auth_failure;
    return Apache2::Const::AUTH_REQUIRED();
}

# Gives code a name for use in a line of configuration.
sub named_code ($code) {
    state $number = 0;
    my $name = 'Cameleer::ModPerl2::Named::code' . ++$number;
    no strict 'refs';
    *{$name} = $code;
    return $name;
}

# Calls a PerlAddAuthzProvider with the words after its name in Require.
sub authorize ($argument) {
    my ( $handler, $words ) = split /\0/, $argument, 2;
    return Apache::Phases::code($handler)->( Apache->request, $words );
}

sub passing ( $filter, $sub ) {
    Cameleer::Filters::beyond( $sub, $filter ) if $sub && $filter;
    return $sub;
}

sub has_option ( $r, $name ) { return _is_among( $name, Apache::_perl_options($r) ) }
sub has_server_option ( $s, $name ) { return _is_among( $name, Apache::Server::_perl_options($s) ) }

sub _is_among ( $name, $options ) {
    return 1 if grep { lc $_ eq lc $name } split / /, $options // '';
    return 0;
}

# `404 Not Found`
sub status_line ($status) {
    require HTTP::Status;
    my $text = HTTP::Status::status_message($status) // return '500 Internal Server Error';
    return "$status $text";
}

# The tag is weak while the file may still change within the same second.
sub etag ( $r, $weak ) {
    my ( $inode, $size ) = Apache::has_file($r) ? ( stat $r->filename )[ 1, 7 ] : ();
    my $mark = $weak || $r->request_time - $r->mtime <= 1 ? 'W/' : '';
    return $mark . ( defined $inode ? sprintf( '"%x-%x"', $size, $r->mtime * 1_000_000 ) : sprintf '"%x"', $r->mtime * 1_000_000 );
}

# Sets the headers of a file that passes filters, and evaluates the client's conditions.
sub validate_file ($) {
    require Apache2::Response;
    my $r = Apache->request;
    $r->update_mtime( ( stat $r->filename )[9] // 0 );
    $r->set_last_modified;
    $r->headers_out->set( ETag => etag( $r, 0 ) );
    return $r->meets_conditions;
}

# --- the server

# The whole configuration, for Apache2::Directive.
my $configuration;

sub configuration_is ($text) { $configuration = $text; return }
sub configuration () { return $configuration }

# The handlers of a phase in the configuration of the main server or of a virtual host.
sub configured_handlers ( $s, $phase ) {
    my ( $host, @handlers ) = (0);
    for my $row ( split /\n/, $configuration ) {
        my ( $depth, undef, undef, $name, $words ) = split /\0/, $row, 5;
        $host++ if lc $name eq '<virtualhost';
        my $is_own = $$s ? $depth == 1 && $host == $$s : $depth == 0;
        push @handlers, split / /, $words if $is_own && lc $name eq lc $phase;
    }
    return @handlers;
}

# The footer of the server's own pages, by ServerSignature.
sub signature ( $r, $prefix ) {
    my $s = Apache::server($r);
    my ($setting) = ( configured_handlers( $s, 'ServerSignature' ), configured_handlers( Apache->server, 'ServerSignature' ), 'Off' );
    return '' if lc $setting eq 'off';
    my $host = Apache::get_server_name($r);
    return "$prefix<address>" . Apache::Server::server_software($s) . " Server at $host Port " . Apache::get_server_port($r) . "</address>\n";
}

# The running phase of the process, by directive; it belongs to no request.
our $PHASE;
our $RESTARTS;

sub restart_count () { return $RESTARTS }

# Time of the build of this server.
sub built () { return scalar gmtime( ( stat $INC{'Cameleer/ModPerl2.pm'} )[9] ) }

# Registers a new HTTP method; returns its number.
my @METHODS;

sub register_method ($name) {
    push @METHODS, $name unless grep { $_ eq $name } @METHODS;
    my ($at) = grep { $METHODS[$_] eq $name } 0 .. $#METHODS;
    return 27 + $at;
}

sub clean_up ( $code, @arguments ) {
    eval { $code->(@arguments); 1 } or Apache::Log::write( 3, "cleanup died: $@" );
    return;
}

# Adds lines of configuration, which are read in the place of the calling code.
sub add_server_config ( $s, $lines ) {
    require Cameleer::Sections;
    Cameleer::Sections::hand(@$lines);
    return;
}

# The values of PerlSetVar outside of containers.
sub server_variables ( $s, @words ) {
    require APR::Table;
    require Cameleer::Pools;
    my $table = APR::Table::make( Cameleer::Pools::of_process(), 8 );
    my @pairs = Apache::Server::variables($s);
    while ( my ( $name, $value ) = splice @pairs, 0, 2 ) { $table->add( $name, $value ) }
    return @words ? $table->get( $words[0] ) : $table;
}

# Runs a phase of the process: the configured handlers by name, then the pushed ones.
sub run_of_process ($words) {
    my ( $phase, @named ) = split /\0/, $words;
    local $PHASE = $phase;
    my @pools = map { Apache2::Process->current->pool } 1 .. ( $phase =~ /OpenLogs|PostConfig/ ? 3 : 1 );
    my @calls = map { [ 0, $_ ] } @{ Apache::Phases::of_process($phase) };
    unshift @calls, [ splice @named, -2 ] while @named;
    for my $call (@calls) {
        my ( $host, $handler ) = @$call;
        my $status = Apache::Phases::code($handler)->( @pools, bless \( my $number = 0 + $host ), 'Apache2::ServerRec' );
        die "$phase: " . ( ref $handler ? 'a handler' : $handler ) . " returned $status\n"
            if defined $status && $status =~ /\A-?\d+\z/ && $status > 0 && $phase =~ /OpenLogs|PostConfig/;
    }
    return;
}

# Throws an APR error at the caller's line.
sub raise ( $status, $what ) {
    require APR::Error;
    my ( undef, $file, $line ) = caller 1;
    die APR::Error->new( rc => $status, func => $what, file => $file, line => $line );
}

# The client has disconnected. A flush notices that by the output before it.
sub unheard ( $status, $method ) {
    require APR::Error;
    require Errno;
    my $depth = 0;
    $depth++ while ( caller $depth )[0] =~ /\A(?:Apache2::Request(?:Rec|IO)|Apache2?|Cameleer::.*)\z/ && defined caller $depth + 1;
    my ( undef, $file, $line ) = caller $depth;
    $status = Errno::ECONNABORTED() if $method =~ /flush\z/;
    die APR::Error->new( rc => $status, func => $method, file => $file, line => $line );
}

sub croak ($message) {
    require Carp;
    local $Carp::CarpLevel = 1;
    Carp::croak($message);
}

1;

__END__

=head1 NAME

Cameleer::ModPerl2 - common code of the modules of mod_perl 2's API

=head1 SYNOPSIS

    Cameleer::ModPerl2::lend( 'Apache', 'Apache2::RequestRec', qw(uri filename) );
    Cameleer::ModPerl2::fields( 'Apache2::RequestRec', assbackwards => 0 );
    my $kept = Cameleer::ModPerl2::of_request($r);    # a hash that ends with the request

=cut
