package EventPool;

use v5.36;
use File::Basename ();
use File::Temp     ();
use IO::FDPass     ();
use IO::Select     ();
use IO::Socket::INET ();
use IO::Socket::UNIX ();
use POSIX          ();
use Socket         ();
use Time::HiRes    ();

# Modules of the server that need no server. The others are in its worker.
BEGIN { $INC{'Cameleer/Event.pm'} = __FILE__ }

# A running Cameleer whose one event worker passes its streams on to this process. `$CAMELEER` is the program.
#
#     my $pool = EventPool->new( listen => ['127.0.0.1:5000'], directives => "EventIdleTimeout 1\n" );
#     $pool->{streams}      # readable when a stream is there: $pool->descriptor
#     $pool->{leave}        # readable when the worker must leave; then $pool->done

use constant START_SECONDS => 60;
use constant PROGRAM => File::Basename::dirname(__FILE__) . '/forward.pl';

my @running;

sub free_port ( $class = undef ) {
    my $socket = IO::Socket::INET->new( Listen => 1, LocalAddr => '127.0.0.1', ReuseAddr => 1 ) or die "a port: $!\n";
    return $socket->sockport;
}

sub new ( $class, %options ) {
    my $folder = File::Temp->newdir('cameleer-bridge-XXXXXX', TMPDIR => 1);
    chmod 0755, "$folder";
    my $self = bless { folder => $folder, pid => 0, owner => $$ }, $class;
    my $path = "$folder/bridge";
    my $listener = IO::Socket::UNIX->new( Local => $path, Listen => 5 ) or die "$path: $!\n";
    chmod 0777, $path;
    $self->write( 'site.conf', $self->site(%options) );
    $self->start($path);
    push @running, $self;
    Scalar::Util::weaken( $running[-1] );
    $self->{$_} = $self->wait_for($listener) for qw(streams leave);
    $self->wait_until_open( $options{probe} ) if $options{probe};
    return $self;
}

sub site ( $self, %options ) {
    my $folder = $self->{folder};
    my $listen = join '', map {"Listen $_\n"} @{ $options{listen} };
    return <<~"END" . ( $options{directives} // '' ) . "<Location />\nPsgiApp \"$folder/forward.pl\"\n</Location>\n";
    ServerName localhost
    ServerRoot "$folder"
    PidFile "$folder/pid"
    ErrorLog "$folder/error.log"
    ControlSocket "$folder/control.sock"
    PsgiMode event
    StartServers 1
    MaxClients 1
    $listen
    END
}

sub write ( $self, $name, $text ) {
    open my $file, '>', "$self->{folder}/$name" or die "$name: $!\n";
    print $file $text;
    close $file;
    return;
}

sub start ( $self, $path ) {
    open my $program, '<', PROGRAM or die PROGRAM . ": $!\n";
    my $text = do { local $/; <$program> };
    $text =~ s/\$ENV\{BRIDGE\};\n\z/'$path';\n/ or die "the forwarder has no path\n";
    $self->write( 'forward.pl', $text );
    my $pid = fork // die "fork: $!\n";
    if ( !$pid ) {
        # The settings of a test are not the server's.
        delete @ENV{ grep {/\A(?:PERL5OPT|HARNESS_.*|T2_.*|MOJO_.*)\z/} keys %ENV };
        POSIX::setsid();
        open STDIN,  '<',  '/dev/null';
        open STDOUT, '>>', "$self->{folder}/out";
        open STDERR, '>>', "$self->{folder}/out";
        POSIX::close($_) for 3 .. 63;
        exec $ENV{CAMELEER}, 'serve', '-f', "$self->{folder}/site.conf" or POSIX::_exit(127);
    }
    $self->{pid} = $pid;
    $self->guard($pid);
    return;
}

# A process that ends the server if this one is gone without having done so.
sub guard ( $self, $pid ) {
    pipe my $end, $self->{guard} or die "pipe: $!\n";
    defined( my $guard = fork ) or die "fork: $!\n";
    if ($guard) { $self->{guard_pid} = $guard; return }
    POSIX::setsid();
    delete $self->{guard};
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', '/dev/null';
    POSIX::close($_) for grep { $_ != fileno $end } 3 .. 63;
    kill TERM => $pid if !sysread $end, my $byte, 1;
    POSIX::_exit(0);
}

sub wait_for ( $self, $listener ) {
    my $deadline = Time::HiRes::time() + START_SECONDS;
    until ( IO::Select->new($listener)->can_read(0.1) ) {
        next if Time::HiRes::time() < $deadline && waitpid( $self->{pid}, POSIX::WNOHANG() ) == 0;
        my $said = $self->text('out') . $self->text('error.log');
        $self->{pid} = 0 if Time::HiRes::time() < $deadline;
        die "the server did not start:\n$said";
    }
    return $listener->accept;
}

# The front listens before its workers are there, but not on all addresses at once.
sub wait_until_open ( $self, $make ) {
    my $deadline = Time::HiRes::time() + START_SECONDS;
    until ( $make->() ) {
        die "the server does not listen\n" if Time::HiRes::time() > $deadline;
        Time::HiRes::sleep(0.01);
    }
    return;
}

sub text ( $self, $name ) {
    open my $file, '<', "$self->{folder}/$name" or return '';
    local $/;
    return <$file> // '';
}

# The next stream's descriptor, if `streams` is readable; undef at the server's end.
sub descriptor ($self) {
    my $descriptor = IO::FDPass::recv( fileno $self->{streams} );
    return $descriptor < 0 ? undef : $descriptor;
}

# The server may end: TERM, once.
sub terminate ($self) {
    kill TERM => $self->{pid} if $self->{pid} && !$self->{is_terminated}++;
    return;
}

# This process has answered its last request.
sub done ($self) {
    close $_ for grep {defined} delete @$self{qw(streams leave)};
    return;
}

sub reap ($self) {
    my $pid = delete $self->{pid} or return;
    my $deadline = Time::HiRes::time() + 10;
    while ( waitpid( $pid, POSIX::WNOHANG() ) == 0 ) {
        kill KILL => -$pid if Time::HiRes::time() > $deadline;
        Time::HiRes::sleep(0.005);
    }
    return;
}

sub stop ($self) {
    return if !$self->{pid} || $self->{owner} != $$;
    $self->terminate;
    $self->done;
    local ( $?, $!, $@ );
    $self->reap;
    syswrite $self->{guard}, 'x';
    waitpid $self->{guard_pid}, 0;
    return;
}

sub DESTROY ($self) { $self->stop; return }

END {
    my $status = $?;
    $_ && $_->stop for @running;
    $? = $status;
}

1;
