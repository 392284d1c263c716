package Sweep;

# Calls every method of one object of each class, with arguments of all kinds. Results are ignored; only the process
# must survive.

use v5.36;
no warnings;

use Apache2::Access     ();
use Apache2::Connection ();
use Apache2::Cookie     ();
use Apache2::Directive  ();
use Apache2::Filter     ();
use Apache2::Log        ();
use Apache2::Process    ();
use Apache2::Request    ();
use Apache2::RequestIO  ();
use Apache2::RequestRec ();
use Apache2::RequestUtil ();
use Apache2::Response   ();
use Apache2::ServerRec  ();
use Apache2::ServerUtil ();
use Apache2::SubRequest ();
use Apache2::Upload     ();
use Apache2::URI        ();
use APR::Brigade        ();
use APR::Bucket         ();
use APR::BucketAlloc    ();
use APR::Finfo          ();
use APR::IpSubnet       ();
use APR::Pool           ();
use APR::Request::Param ();
use APR::SockAddr       ();
use APR::Socket         ();
use APR::Table          ();
use APR::ThreadMutex    ();
use APR::ThreadRWLock   ();
use APR::URI            ();
use APR::UUID           ();
use POSIX               ();
use mro                 ();

# Arguments that run code when their text or number is read.
package Sweep::Tied {
    sub TIESCALAR ( $class, @self )  { return bless [@self], $class }
    sub FETCH     ($self)            { $self->[1]->(); return $self->[0] }
    sub STORE     ( $self, $value )  { $self->[1]->(); $self->[0] = $value; return }
}

package Sweep::Object {
    use overload '""' => \&value, '0+' => \&value, 'bool' => \&value, fallback => 1;
    sub new   ( $class, @self ) { return bless [@self], $class }
    sub value ( $self, @ )      { $self->[1]->(); return $self->[0] }
}

package Sweep;

our ( %kept, $filter );

# Objects of a pool that does not belong to the server.
sub of_pool ($r) {
    my $pool    = $r->pool->new;
    my $alloc   = APR::BucketAlloc->new($pool);
    my $brigade = APR::Brigade->new( $pool, $alloc );
    $brigade->insert_tail( APR::Bucket->new( $alloc, "text $_" ) ) for 1 .. 3;
    return (
        address => APR::SockAddr->new( $pool, '127.0.0.1', 80 ),
        alloc   => $alloc,
        brigade => $brigade,
        bucket  => $brigade->first,
        finfo   => APR::Finfo::stat( '/', 0x7f, $pool ),
        lock    => APR::ThreadRWLock->new($pool),
        loose   => APR::Bucket->new( $alloc, 'loose' ),
        mutex   => APR::ThreadMutex->new($pool),
        pool    => $pool,
        subnet  => APR::IpSubnet->new( $pool, '127.0.0.0', 8 ),
        table   => APR::Table::make( $pool, 3 ),
        uri     => APR::URI->parse( $pool, 'http://a:b@c:1/d?e#f' ),
    );
}

sub of_server ($r) {
    my $request = Apache2::Request->new($r);
    my %all     = (
        client     => $r->connection->client_addr,
        config     => $r->dir_config,
        connection => $r->connection,
        cookie     => Apache2::Cookie->new( $r, -name => 'a', -value => 'b' ),
        directive  => Apache2::Directive::conftree(),
        env        => $r->subprocess_env,
        filter     => $filter,
        headers    => $r->headers_in,
        libapreq   => $request,
        log        => $r->log,
        notes      => $r->notes,
        out        => $r->headers_out,
        output     => $r->output_filters,
        param      => APR::Request::Param->make( $r->pool, 'a', 'b' ),
        params     => scalar $request->param,
        process    => $r->server->process,
        request    => $r,
        server     => $r->server,
        server_log => $r->server->log,
        socket     => $r->connection->client_socket,
        subrequest => $r->lookup_uri('/other'),
        upload     => scalar $request->upload('file'),
        uploads    => scalar $request->upload,
        uuid       => APR::UUID->new,
    );
    return map { $_ => $all{$_} } grep { ref $all{$_} } keys %all;
}

sub objects ($r) { return ( of_pool($r), of_server($r) ) }

# Methods that wait for a peer, jump, end the process on purpose, or write files at given paths.
my $LEFT_OUT = qr/\A(?:child_terminate|exit|recv|recvfrom|poll|connect|listen|password_get|rdlock|wrlock|lock|become|start|fail|piped|(?:upload_)?link
    |internal_\w*redirect\w*|timeout_set|opt_set|loglevel|setmax.*|server_shutdown_cleanup_register|import|croak|confess|carp|cluck|can|isa|DOES|VERSION|CLONE.*)\z/x;

sub methods ($object) {
    my %found;
    for my $class ( @{ mro::get_linear_isa( ref $object ) } ) {
        next if $class !~ /\A(?:Apache2?|APR|ModPerl|Cameleer)(?:::|\z)/;
        no strict 'refs';
        $found{$_} = 1 for grep { /\A[A-Za-z_]\w*\z/ && !/$LEFT_OUT/ && defined &{"${class}::$_"} } keys %{"${class}::"};
    }
    return sort keys %found;
}

sub tied_to ( $value, $code ) { tie my $tied, 'Sweep::Tied', $value, $code; return \$tied }

# Lists of references to arguments for methods of the first object.
sub sets ( $code, $object, @others ) {
    my $evil  = Sweep::Object->new( 7, $code );
    my @plain = (
        [], [undef], ['x'], [7], [-1], [1e19], ["\x{263a}\0"], [ [] ], [ {} ], [ sub { 1 } ], [ \my $variable ], [$object],
        [ bless {}, ref $object ], [$evil], [ 'a', $evil ], [ 'a', 7, $evil ], [ Sweep::Object->new( 'a', $code ), 'b' ],
        ( map { ( [$_], [ $_, 'x' ], [ $_, $evil ], [ $evil, $_ ] ) } @others ),
    );
    return ( ( map { [ map { \$_ } @$_ ] } @plain ), map { [ tied_to( $_, $code ) ] } 'x', 7, @others );
}

# Passes the variables themselves: map and lists would copy tied ones.
sub call ( $object, $method, @refs ) {
    return $object->$method()                                        if @refs == 0;
    return $object->$method( ${ $refs[0] } )                         if @refs == 1;
    return $object->$method( ${ $refs[0] }, ${ $refs[1] } )          if @refs == 2;
    return $object->$method( ${ $refs[0] }, ${ $refs[1] }, ${ $refs[2] } );
}

# Returns the number of calls. `$make` creates the object and its arguments, again after each call in which code of an
# argument ran.
sub try_all ( $make, $harm = sub { } ) {
    my ( $calls, $has_run, @all, @sets ) = ( 0, 1 );
    my $code = sub { $has_run = 1; $harm->(@all) };
    for my $method ( methods( ( $make->() )[0] ) ) {
        for ( my $at = 0 ; $at == 0 || $at < @sets ; $at++ ) {
            if ($has_run) {
                @all     = $make->();
                @sets    = sets( $code, @all );
                $has_run = 0;
            }
            local $SIG{ALRM} = sub { die "$method waits\n" };
            alarm 5;
            eval { call( $all[0], $method, @{ $sets[$at] } ); 1 };
            alarm 0;
            $calls++;
        }
    }
    return $calls;
}

sub keeps_filter ( $f, @ ) { $filter = $f; return -1 }
sub keep  ($r) { %kept = objects($r); $r->print($$); return 0 }
sub names ($r) { $r->print( join ' ', sort keys %{ { objects($r) } } ); return 0 }
sub pid   ($r) { $r->print($$); return 0 }

sub try_kept (@others) {
    my $calls = 0;
    for my $object ( @kept{ sort keys %kept } ) { $calls += try_all( sub { ( $object, @others ) } ) }
    return $calls;
}

sub reuse ($r) {
    my $calls = try_kept( $r, $r->pool );
    $r->print("$$ $calls");
    return 0;
}

# `/live?NAME` for an object of the server.
sub live ($r) {
    my %all = objects($r);
    my $name = $r->args;
    try_all( sub { ( $all{$name}, @all{qw(table pool)} ) }, $_ ) for sub { }, sub { die "harm\n" };
    Apache2::ServerRec::warn("has tried $name");
    return 0;
}

# Code of arguments that changes objects of a pool.
my @HARM = (
    ( map { my $name = $_; sub (%all) { $all{$name}->destroy } } qw(pool alloc brigade bucket loose) ),
    sub (%all) { $all{pool}->clear },
    sub (%all) { $all{brigade}->cleanup },
    sub (%all) { $all{table}->clear },
    sub (%all) { my @many = map { $_ } 1 .. 20_000; scalar @many },
);

# `/harmed?NAME` for one of a pool.
sub harmed ($r) {
    my ( %all, $calls );
    for my $harm (@HARM) {
        my $make = sub { %all = of_pool($r); return @all{ $r->args, qw(table pool brigade bucket loose alloc address) } };
        $calls += try_all( $make, sub { eval { $harm->(%all) } } );
    }
    Apache2::ServerRec::warn( 'has tried ' . $r->args );
    return 0;
}

# Runs after the request has ended, and in another process.
sub in_cleanup ($r) {
    %kept = objects($r);
    my @moments = ( [ handler => sub ($code) { $r->push_handlers( PerlCleanupHandler => $code ) } ], [ pool => sub ($code) { $r->pool->cleanup_register($code) } ] );
    for my $moment (@moments) {
        my ( $name, $register ) = @$moment;
        $register->( sub { my $calls = try_kept(); warn "$name: $calls calls\n"; return 0 } );
    }
    $r->print($$);
    return 0;
}

sub in_child ($r) {
    %kept = objects($r);
    my $child = fork // die "fork: $!";
    if ( !$child ) {
        try_kept();
        POSIX::_exit(0);
    }
    waitpid $child, 0;
    $r->print("$$ $?");
    return 0;
}

sub at_the_end ($r) {
    %kept = objects($r);
    our $process = $$;
    $r->print($$);
    $r->child_terminate;
    return 0;
}

END { our $process //= 0; warn 'END: ' . try_kept() . " calls\n" if $process == $$ }

1;
