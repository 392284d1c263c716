package Cameleer::StartUp;

use v5.36;

use Scalar::Util ();

# The process that loads the site, its descriptors from before, what the steps left open: connected sockets, and
# connections of DBI (weak references, so that a program can drop them).
my ( $mold, %before, @sockets, @connections );

# Drivers whose handles reach nothing outside the process, or open their files for each statement.
my %LOCAL = map { $_ => 1 } qw(AnyData CSV DBM ExampleP File Mem Sponge);

# Handles that must not be closed before the process ends: files, and connections of DBI that stopped being anybody's.
# DBD::MariaDB 1.22 loses its way at the end of a process that has destroyed a connection without closing it.
my @kept;

# Before the first step.
sub begin {
    $mold   = $$;
    %before = map { $_ => 1 } _descriptors();
    $Apache::ServerStarting ||= 1;
    return;
}

# Compiles a Registry script in the mold, so that the workers share it. Returns what is wrong with it, or ''.
sub preload_script ($uri_and_file) {
    my ( $uri, $file ) = split /\0/, $uri_and_file;
    require Apache::RegistryLoader;
    my ( undef, $wrong ) = Apache::RegistryLoader->new->compile( $uri, $file );
    return $wrong // '';
}

# After the last.
sub end {
    $Apache::ServerStarting = 0;
    _remember( my @open = _connections() );
    for my $handle (@open) {
        warn 'start-up left a connection to "' . _name($handle) . '" open: each worker makes one of its own instead; connect '
          . "in PerlChildInitHandler to be spared this\n";
    }
    _note_sockets( 'start-up', \%before );
    _note_files();
    return;
}

# Files and folders that are open for reading: each worker opens them anew, at the same place, where it may.
sub _note_files {
    for my $descriptor ( grep { !$before{$_} } _descriptors() ) {
        my $file = "/proc/self/fd/$descriptor";
        next if !( -f $file || -d _ ) || !_only_reads($descriptor) || sysopen my $anew, $file, 0;
        warn 'start-up left ' . ( readlink($file) // 'a file' ) . " open for reading (descriptor $descriptor), which this user may not open ($!): "
          . "all workers share its position; read it at start-up, or open it in PerlChildInitHandler\n";
    }
    return;
}

# By the flags with which it was opened, as the kernel has them.
sub _only_reads ($descriptor) {
    open my $about, '<', "/proc/self/fdinfo/$descriptor" or return '';
    my ($flags) = map { /\Aflags:\s*([0-7]+)/a } <$about>;
    return defined $flags && ( oct($flags) & 3 ) == 0;
}

# What was there before a warm-up: descriptors, connections of DBI.
my ( %open_before, %known );

# Requests of a warm-up are about to be answered: with ServerStarting, Apache::DBI keeps no connection that is made then.
sub begin_warm_up {
    %open_before            = map { $_ => 1 } _descriptors();
    %known                  = map { Scalar::Util::refaddr($_) => 1 } _connections();
    $ENV{CAMELEER_WARMUP}   = 1;
    $Apache::ServerStarting = 1;
    return;
}

# The mold has answered them. What is connected now is closed: a transaction that is open in the mold would hold its locks
# for ever.
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

# What connect_cached keeps, whoever asks next connects anew.
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

# In the mold, before it forks: whether there is anything to do for what follows, or for the site's own code, in a fresh worker.
sub concerns_workers {
    return 1 if @sockets || @connections;
    return 1 if $INC{'Cameleer/Refork.pm'} && Cameleer::Refork::concerns_workers();
    return Apache::Phases->can('concern_workers') && Apache::Phases::concern_workers() ? 1 : '';
}

# In a fresh worker. A connection is one stream of bytes: two processes on it would read each other's answers, and the
# first that says goodbye on it ends it for all.
sub forked {
    return if $$ == $mold;
    _hang_up(@sockets);
    _connect_again() if @connections;    # a walk over all handles would un-share the memory that they are in
    Cameleer::Refork::forked() if $INC{'Cameleer/Refork.pm'};
    return;
}

sub _connect_again {
    $Apache::ServerStarting = 1;         # or Apache::DBI keeps what is connected here
    for my $handle ( grep { defined } @connections ) {
        my $was_open = $handle->{Active};
        my $own      = eval { _another($handle) };
        $own && $handle->swap_inner_handle($own) or warn 'cannot connect to "' . _name($handle) . "\" again: $@";
        push @kept, $own if $was_open;
    }
    $Apache::ServerStarting = 0;
    return;
}

# A connection to the same database, set as it is. connect_cached would keep the new handle in the place of the one that gets its
# connection, and connect once more for the next request.
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

# What a program can have set since it connected. AutoCommit is off for as long as a transaction of begin_work, too.
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

# In a worker that is about to become a mold and serves no more: its connections to databases end in good order, and the
# workers of that mold make their own under the same handles. Says why that cannot be.
sub disconnect {
    my @open = _own_connections();
    for my $handle (@open) {
        my $statement = _statement_of($handle) // next;
        return 'the program keeps a statement handle of "' . _name($handle) . "\" ($statement)";
    }
    for my $handle (@open) {
        my $error = _disconnect($handle);
        return $error if defined $error;
    }
    _remember(@open);
    return;
}

# In a worker that ends, after its END blocks: it says goodbye, or its databases log a client that broke off. Perl does so when
# it destroys all objects at the end of a process; a worker leaves them to the kernel.
sub leave {
    _disconnect($_) for _own_connections();
    return;
}

# Says what went wrong. By DBI's own method, for that of Apache::DBI's handles does nothing; and with PrintError as it is, for
# DBD::MariaDB lets nobody set anything in a handle that is not connected.
sub _disconnect ($handle) {
    local $SIG{__WARN__} = sub ($) { };
    return eval { DBI::db::disconnect($handle); 1 } ? undef : 'cannot disconnect from "' . _name($handle) . "\": $@";
}

# In the mold that has been a worker: connections that it still has, beside those descriptors, which are the server's. Its
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

# Apache::DBI takes the class off its lists each time that it connects in PerlChildInitHandler: it means to do so once in a line
# of processes. These connections are made anew as all others are.
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

# One that the program keeps, beside those that the connection itself does for prepare_cached.
sub _statement_of ($handle) {
    my %is_cached = map { Scalar::Util::refaddr($_) => 1 } values %{ $handle->{CachedKids} // {} };
    my ($kept)    = grep { defined && !$is_cached{ Scalar::Util::refaddr($_) } } @{ $handle->{ChildHandles} // [] };
    return $kept && ( $kept->{Statement} // '?' );
}

sub _name ($handle) { return "dbi:$handle->{Driver}{Name}:$handle->{Name}" }

# Without those that the mold has opened.
sub _own_connections {
    my %is_kept = map { Scalar::Util::refaddr($_) => 1 } grep { ref } @kept;
    return grep { !$is_kept{ Scalar::Util::refaddr($_) } } _connections();
}

# Every open connection of DBI; a handle that is destroyed in another process says nothing to its database from now on.
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
    my @numbers = map { /\A(\d+)\z/a } readdir $folder;    # captured: not tainted
    closedir $folder;                                       # its own is free again
    return grep { -e "/proc/self/fd/$_" } @numbers;
}

# Whom a stream's descriptor is connected to. A pair of sockets has no name at either end: who makes one wants to share it.
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

# The descriptors become a line that nobody speaks on: reading finds its end, writing is lost, and nothing dies of SIGPIPE.
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

Cameleer::StartUp - what start-up code leaves connected is not shared between workers

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

Called by the server. Between C<begin> and C<end> C<$Apache::ServerStarting> is 1: L<Apache::DBI> keeps no connection that
is made then. C<end> warns, in the error log, about each connection of L<DBI> and each other
connected stream socket that the start-up steps left open.

Between C<begin_warm_up> and C<end_warm_up> the mold answers requests. C<$ENV{CAMELEER_WARMUP}> is set meanwhile, and
C<$Apache::ServerStarting> once more. Connections of DBI that are open afterwards are closed, with a warning, those that
C<connect_cached> keeps without one; connected sockets are named.

In a worker those sockets are at their end: reading finds end of file, and what is written goes nowhere. A C<$dbh> from the
start-up or a warm-up is connected anew under the same handle; its statement handles have to be prepared again. The mold's own
connections from the start-up stay as they were. The attributes that DBI knows and C<private_> ones are those of the handle, also when they
were set after it had connected; what was said to the connection itself (C<SET NAMES>, temporary tables), or set in an attribute of the
driver, belongs into C<< Callbacks => { connected => sub { ... } } >>, which runs for the new one too. A worker that ends disconnects. Databases that are nowhere but in the process (SQLite in memory, CSV, DBM) are left alone,
and so are pairs of sockets and datagram sockets (syslog).

=cut
