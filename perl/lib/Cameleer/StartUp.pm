package Cameleer::StartUp;

use v5.36;

use Scalar::Util ();

# The mold's process id, its descriptors from before start-up, and connections that start-up left open: sockets,
# and DBI's handles (weak references, so that a program can drop them).
my ( $mold, %before, @sockets, @connections );

# Drivers whose handles have no resources outside the process, or that open their files for each statement.
my %LOCAL = map { $_ => 1 } qw(AnyData CSV DBM ExampleP File Mem Sponge);

# Handles that must stay open until the process ends: files, and unused DBI connections. DBD::MariaDB 1.22
# fails at the end of a process that has destroyed a connection without closing it.
my @kept;

# Runs before the first start-up step.
sub begin {
    $mold   = $$;
    %before = map { $_ => 1 } _descriptors();
    $Apache::ServerStarting ||= 1;
    return;
}

# Compiles a Registry script in the mold, so that the workers share it. Returns an error message, or ''.
sub preload_script ($uri_and_file) {
    my ( $uri, $file ) = split /\0/, $uri_and_file;
    require Apache::RegistryLoader;
    my ( undef, $wrong ) = Apache::RegistryLoader->new->compile( $uri, $file );
    return $wrong // '';
}

# The folders of @INC that hold code of the site, separated by NUL.
sub folders {
    require Config;
    my %own = map { $_ => 1 } @Config::Config{qw(privlibexp archlibexp)};
    return join "\0", grep { !ref && !$own{$_} } @INC;
}

# Runs after the last start-up step.
sub end {
    $Apache::ServerStarting = 0;
    _remember( my @open = _connections() );
    for my $handle (@open) {
        warn 'start-up left a connection to "' . _name($handle) . '" open: each worker makes one of its own instead; connect '
          . "in PerlChildInitHandler to avoid this warning\n";
    }
    _note_sockets( 'start-up', \%before );
    _note_files();
    return;
}

# Records files and folders that are open for reading: each worker reopens them at the same position, if
# permitted.
sub _note_files {
    for my $descriptor ( grep { !$before{$_} } _descriptors() ) {
        my $file = "/proc/self/fd/$descriptor";
        next if !( -f $file || -d _ ) || !_only_reads($descriptor) || sysopen my $anew, $file, 0;
        warn 'start-up left ' . ( readlink($file) // 'a file' ) . " open for reading (descriptor $descriptor), which this user may not open ($!): "
          . "all workers share its position; read it at start-up, or open it in PerlChildInitHandler\n";
    }
    return;
}

# Whether the descriptor was opened for reading only, by the kernel's flags.
sub _only_reads ($descriptor) {
    open my $about, '<', "/proc/self/fdinfo/$descriptor" or return '';
    my ($flags) = map { /\Aflags:\s*([0-7]+)/a } <$about>;
    return defined $flags && ( oct($flags) & 3 ) == 0;
}

# Descriptors and DBI connections from before a warm-up.
my ( %open_before, %known );

# Runs before warm-up requests. With ServerStarting, Apache::DBI does not cache connections that are made
# meanwhile.
sub begin_warm_up {
    %open_before            = map { $_ => 1 } _descriptors();
    %known                  = map { Scalar::Util::refaddr($_) => 1 } _connections();
    $ENV{CAMELEER_WARMUP}   = 1;
    $Apache::ServerStarting = 1;
    return;
}

# Runs after warm-up requests: closes connections, because an open transaction in the mold would hold its locks
# forever.
sub end_warm_up {
    $Apache::ServerStarting = 0;
    delete $ENV{CAMELEER_WARMUP};
    _forget_cached();
    for my $handle ( grep { !$known{ Scalar::Util::refaddr($_) } } _connections() ) {
        warn 'a warm-up request left a connection to "' . _name($handle) . '" open: it is closed, and each worker makes one of '
          . "its own instead\n";
        my $error = _disconnect($handle);
        warn $error if defined $error;
        _remember( grep( { defined } @connections ), $handle );
    }
    _note_sockets( 'a warm-up request', \%open_before );
    return;
}

# Removes handles from connect_cached's cache, so that the next caller gets a new connection.
sub _forget_cached {
    return unless $INC{'DBI.pm'};
    my %drivers = DBI->installed_drivers;
    %{ $_->{CachedKids} // {} } = () for values %drivers;
    return;
}

sub _note_sockets ( $who, $before ) {
    for my $descriptor ( grep { !$before->{$_} } _descriptors() ) {
        my $peer = _peer($descriptor) // next;
        push @sockets, $descriptor;
        warn "$who left a connection to $peer open (descriptor $descriptor): the workers cannot use it; connect in "
          . "PerlChildInitHandler or at the first request\n";
    }
    return;
}

# Runs in the mold, before it forks: whether a fresh worker has anything to do here, or in hooks of the site's
# code.
sub concerns_workers {
    return 1 if @sockets || @connections;
    return 1 if $INC{'Cameleer/Refork.pm'} && Cameleer::Refork::concerns_workers();
    return Apache::Phases->can('concern_workers') && Apache::Phases::concern_workers() ? 1 : '';
}

# Runs in a fresh worker. A connection is one stream of bytes: two processes that share it would read each
# other's answers, and the first to close it would end it for all.
sub forked {
    return if $$ == $mold;
    _hang_up(@sockets);
    _connect_again() if @connections;    # walking over all handles would un-share their memory
    Cameleer::Refork::forked() if $INC{'Cameleer/Refork.pm'};
    return;
}

sub _connect_again {
    $Apache::ServerStarting = 1;         # otherwise Apache::DBI would cache these connections
    for my $handle ( grep { defined } @connections ) {
        my $was_open = $handle->{Active};
        my $own      = eval { _another($handle) };
        $own && $handle->swap_inner_handle($own) or warn 'cannot connect to "' . _name($handle) . "\" again: $@";
        push @kept, $own if $was_open;
    }
    $Apache::ServerStarting = 0;
    return;
}

# Opens another connection with the same settings. connect_cached would cache the new handle rather than the one that
# gets its connection, and connect again for the next request.
sub _another ($handle) {
    my $cache = $handle->{Driver}{CachedKids} // {};
    my @keys  = grep { $cache->{$_} && Scalar::Util::refaddr( $cache->{$_} ) == Scalar::Util::refaddr($handle) } keys %$cache;
    delete @$cache{@keys};
    my $own   = eval { $handle->clone( {} ) };
    my $error = $@;
    $cache->{$_} = $handle for @keys;
    die $error || ( $DBI::errstr // '' ) . "\n" if !$own;
    _set_as_in( $own, $handle );
    return $own;
}

# Attributes that a program may have set after it connected. AutoCommit is also off during a transaction of
# begin_work.
my @ATTRIBUTES = qw(RaiseError PrintError RaiseWarn PrintWarn HandleError HandleSetErr ShowErrorStatement ChopBlanks FetchHashKeyName
  LongReadLen LongTruncOk ReadOnly TaintIn TaintOut);

sub _set_as_in ( $own, $handle ) {
    my @names = ( @ATTRIBUTES, grep { /\Aprivate_/ } keys %{ tied %$handle } );
    push @names, 'AutoCommit' if !$handle->{BegunWork};
    for my $name (@names) {
        my $value = $handle->{$name};
        next if ( $value // '' ) eq ( $own->{$name} // '' );
        eval { $own->{$name} = $value; 1 } or warn "cannot set $name in \"" . _name($own) . "\" again: $@";
    }
    return;
}

# Runs in a worker that is about to become a mold: closes its database connections properly; workers of that mold open
# their own under the same handles. Returns the reason if that is impossible, otherwise nothing.
sub disconnect {
    my @open = _own_connections();
    for my $handle (@open) {
        my $statement = _statement_of($handle) // next;
        return 'the program holds a statement handle of "' . _name($handle) . "\" ($statement)";
    }
    for my $handle (@open) {
        my $error = _disconnect($handle);
        return $error if defined $error;
    }
    _remember(@open);
    return;
}

# Runs at the end of a worker, after its END blocks: closes connections, or databases would log an aborted
# client. perl does so when it destroys all objects at a process's end, which a worker skips.
sub leave {
    _disconnect($_) for _own_connections();
    return;
}

# Disconnects; returns an error message or undef. Calls DBI's own method, because that of Apache::DBI's handles does
# nothing. PrintError is not changed, because DBD::MariaDB allows no changes to a disconnected handle.
sub _disconnect ($handle) {
    local $SIG{__WARN__} = sub ($) { };
    return eval { DBI::db::disconnect($handle); 1 } ? undef : 'cannot disconnect from "' . _name($handle) . "\": $@";
}

# Runs in the mold that was a worker: returns its remaining connections, except the server's descriptors. Its
# workers close none of them.
sub promoted (@ours) {
    ( $mold, @sockets ) = ($$);
    _connect_on_init_has_run() if $INC{'Apache/DBI.pm'} && Apache::Phases->can('concern_workers');
    my %ours = map { $_ => 1 } 0 .. 2, @ours;
    my @open;
    for my $descriptor ( grep { !$ours{$_} && !$before{$_} } _descriptors() ) {
        my $peer = _peer($descriptor);
        push @open, "a connection to $peer (descriptor $descriptor)" if defined $peer;
        push @open, "a pipe (descriptor $descriptor)" if -p "/proc/self/fd/$descriptor";
    }
    return @open;
}

# Apache::DBI removes its class from its lists each time that it connects in PerlChildInitHandler, which works
# only once in a line of processes. These connections are reopened like all others.
sub _connect_on_init_has_run {
    my $has_run = \&Apache::DBI::childinit;
    my @others  = grep { !ref || $_ != $has_run } @{ Apache->get_handlers('PerlChildInitHandler') };
    Apache->set_handlers( PerlChildInitHandler => \@others );
    return;
}

sub _remember (@handles) {
    @connections = @handles;
    Scalar::Util::weaken($_) for @connections;
    return;
}

# A statement handle that the program holds, other than those of prepare_cached.
sub _statement_of ($handle) {
    my %is_cached = map { Scalar::Util::refaddr($_) => 1 } values %{ $handle->{CachedKids} // {} };
    my ($kept)    = grep { defined && !$is_cached{ Scalar::Util::refaddr($_) } } @{ $handle->{ChildHandles} // [] };
    return $kept && ( $kept->{Statement} // '?' );
}

sub _name ($handle) { return "dbi:$handle->{Driver}{Name}:$handle->{Name}" }

# Open connections, except those that the mold has opened.
sub _own_connections {
    my %is_kept = map { Scalar::Util::refaddr($_) => 1 } grep { ref } @kept;
    return grep { !$is_kept{ Scalar::Util::refaddr($_) } } _connections();
}

# All open DBI connections; their handles are set not to disconnect when they are destroyed in another process.
sub _connections {
    return unless $INC{'DBI.pm'};
    my @open;
    DBI->visit_handles(
        sub ( $handle, $ ) {
            $handle->{AutoInactiveDestroy} = 1;
            push @open, $handle if $handle->{Type} eq 'db' && $handle->{Active} && !_is_local($handle);
            return 1;
        }
    );
    return @open;
}

sub _is_local ($handle) {
    my $driver = $handle->{Driver}{Name};
    return $LOCAL{$driver} || $driver eq 'SQLite' && !length( $handle->sqlite_db_filename // '' );
}

sub _descriptors {
    opendir my $folder, '/proc/self/fd' or return;
    my @numbers = map { /\A(\d+)\z/a } readdir $folder;    # untainted by the match
    closedir $folder;                                       # frees the folder's own descriptor
    return grep { -e "/proc/self/fd/$_" } @numbers;
}

# The peer of a stream socket. Socket pairs have no name at either end, and are meant to be shared.
sub _peer ($descriptor) {
    open my $copy, '+<&', $descriptor or return undef;
    my $address = -S $copy && getpeername $copy or return undef;
    require Socket;
    return undef if unpack( 'i', getsockopt $copy, Socket::SOL_SOCKET(), Socket::SO_TYPE() ) != Socket::SOCK_STREAM();
    my $family = Socket::sockaddr_family($address);
    return _named( Socket::unpack_sockaddr_un($address) ) if $family == Socket::AF_UNIX();
    my ( $port, $host ) =
        $family == Socket::AF_INET()  ? Socket::unpack_sockaddr_in($address)
      : $family == Socket::AF_INET6() ? Socket::unpack_sockaddr_in6($address)
      :                                 return "a peer of family $family";
    return Socket::inet_ntop( $family, $host ) . ":$port";
}

sub _named ($path) { return length $path ? $path : undef }

# Replaces the descriptors by a socket without a peer: reads see its end, writes are lost, and no SIGPIPE
# occurs.
sub _hang_up (@descriptors) {
    return unless @descriptors;
    require Fcntl;
    require POSIX;
    socketpair my $line, my $silent, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!\n";
    shutdown $silent, 1;
    push @kept, $silent;
    for my $descriptor (@descriptors) {
        POSIX::dup2( fileno $line, $descriptor );
        open my $handle, '+<&=', $descriptor or die "descriptor $descriptor: $!\n";
        fcntl $handle, Fcntl::F_SETFD(), Fcntl::FD_CLOEXEC();
        push @kept, $handle;
    }
    return;
}

1;

__END__

=head1 NAME

Cameleer::StartUp - keeps workers from sharing connections that start-up code opened

=head1 SYNOPSIS

    Cameleer::StartUp::begin();     # in the mold, then the site's PerlModule and PerlRequire
    Cameleer::StartUp::end();       # the site is loaded
    Cameleer::StartUp::begin_warm_up();
    Cameleer::StartUp::end_warm_up();
    Cameleer::StartUp::forked()    # in each worker, before PerlChildInitHandler
        if Cameleer::StartUp::concerns_workers();

    Cameleer::StartUp::leave();         # in a worker that ends
    Cameleer::StartUp::disconnect();    # in a worker that is to become a mold
    Cameleer::StartUp::promoted();      # in that mold

=head1 DESCRIPTION

The server calls this module. Between C<begin> and C<end> C<$Apache::ServerStarting> is 1:
L<Apache::DBI> then caches no connections. C<end> logs a warning for each connection of L<DBI>, and
for each other connected stream socket, that the start-up steps left open.

Between C<begin_warm_up> and C<end_warm_up> the mold answers requests. Meanwhile
C<$ENV{CAMELEER_WARMUP}> is set, and C<$Apache::ServerStarting> is 1 again. DBI connections that are
open afterwards are closed with a warning, those of C<connect_cached> without one; connected sockets
are logged.

In a worker those sockets are disconnected: reads see end of file, and writes are lost. A C<$dbh> of
start-up or warm-up code is reconnected under the same handle; its statement handles must be
prepared again. The mold's own start-up connections stay open. DBI's attributes and C<private_> ones
are copied from the handle, even if they were set after it connected. Settings of the connection
itself (C<SET NAMES>, temporary tables) and attributes of the driver belong into C<< Callbacks => {
connected => sub { ... } } >>, which also runs for the new connection. A worker disconnects at its
end. Databases inside the process (SQLite in memory, CSV, DBM), socket pairs and datagram sockets
(syslog) are not changed.

=cut
