package Plack::Handler::Cameleer;

use v5.36;

use File::Spec ();

# Options of Starman, Starlet and similar servers, as options of `cameleer run`.
my %OPTIONS = (
    workers             => '--workers',
    max_workers         => '--workers',
    max_requests        => '--max-requests',
    max_reqs_per_child  => '--max-requests',
    pid                 => '--pid',
    user                => '--user',
    group               => '--group',
    error_log           => '--error-log',
    log_level           => '--log-level',
);

# Options that are directives.
my %DIRECTIVES = (
    backlog            => 'ListenBacklog',
    keepalive_timeout  => 'KeepAliveTimeout',
    max_keepalive_reqs => 'MaxKeepAliveRequests',
    read_timeout       => 'RequestReadTimeout',
    timeout            => 'RequestTimeout',
);

# Options without a meaning here: the program is always loaded before the fork, and other options that plackup itself
# passes to each server.
my %IGNORED = map { $_ => 1 } qw(preload_app disable_proctitle proctitle server_ready server_software psgi_app_builder argv);

# The application of the program that the server loads, while it loads it.
our $captured;
our $captures = 0;

# Programs are not compiled in the scope of variables of this file.
sub run_program { package main; return do $_[0] }    ## no critic: loading code is the job

sub new ( $class, @options ) { return bless {@options}, $class }

# In a plain perl: becomes the server. While the server loads the program: passes the application to it.
sub run ( $self, $app ) {
    if ($captures) {
        $captured = $self->{psgi_app_builder} ? $self->{psgi_app_builder}->() : $app;
        die bless {}, 'Plack::Handler::Cameleer::Captured';
    }
    pass_sockets();
    my @command = ( binary(), $self->arguments( program_words() ) );
    exec { $command[0] } @command;
    die "$command[0]: $!; install Cameleer, put it into PATH or name it in the variable CAMELEER\n";
}

# The command line of the server.
sub arguments ( $self, @program ) {
    my @arguments = ( 'run', '-e', loader(@program), $self->listen );
    for my $name ( sort keys %$self ) {
        my $value = $self->{$name};
        next if $IGNORED{$name} || !defined $value || $name =~ /\A(?:host|port|listen|socket|daemonize)\z/;
        if    ( my $option    = $OPTIONS{$name} )    { push @arguments, $option, $value }
        elsif ( my $directive = $DIRECTIVES{$name} ) { push @arguments, '-C', directive( $directive, $value ) }
        elsif ( $name eq 'keepalive' )               { push @arguments, '-C', 'KeepAlive ' . ( $value ? 'On' : 'Off' ) }
        elsif ( $name eq 'ssl' || $name eq 'enable_ssl' ) { push @arguments, '--tls' if $value && !$self->{ssl_cert} && !$self->{ssl_cert_file} }
        elsif ( $name =~ /\Assl_(cert|key)(?:_file)?\z/ ) { push @arguments, $self->certificate( $1, $value ) }
        else                                              { warn "plackup -s Cameleer: --$name is not an option of this server; ignored\n" }
    }
    push @arguments, '-D' if $self->{daemonize};
    return @arguments;
}

sub listen ($self) {
    return if defined $ENV{SERVER_STARTER_PORT} || ( $ENV{LISTEN_PID} // 0 ) == $$;
    my @listen = ref $self->{listen} ? @{ $self->{listen} } : $self->{listen} // ();
    push @listen, $self->{socket} if !@listen && defined $self->{socket};
    @listen = ( ( $self->{host} // '' ) . ':' . ( $self->{port} || 5000 ) ) if !@listen;
    $self->check_tls(@listen);
    my $mixed = $self->is_mixed(@listen);
    return map { ( '--listen', $mixed ? $_ : s/:ssl\z//r ) } @listen;
}

# Whether TLS is for some addresses only.
sub is_mixed ( $self, @listen ) {
    my $secure = grep {/:ssl\z/} @listen;
    return $secure && $secure < @listen;
}

# Never plain HTTP where TLS was meant.
sub check_tls ( $self, @listen ) {
    my @secure = grep {/:ssl\z/} @listen or return;
    return if $self->{ssl} || $self->{enable_ssl} || grep { $self->{$_} } qw(ssl_cert ssl_cert_file);
    die "plackup -s Cameleer: --listen $secure[0]: no certificate; add --ssl-cert FILE --ssl-key FILE, or --enable-ssl for one of development\n";
}

sub directive ( $name, $value ) {
    $value =~ /\A[\d.]+\z/ or die "plackup -s Cameleer: $name: expected a number, got \"$value\"\n";
    $value = $name eq 'RequestReadTimeout' ? "header=$value body=$value" : whole($value);
    return "$name $value";
}

# Directives take whole seconds.
sub whole ($number) { my $whole = int $number; return $whole + ( $number > $whole ) }

sub certificate ( $self, $kind, $file ) {
    $file =~ /["\n]/ and die "plackup -s Cameleer: the name of the certificate contains a quote or a line end\n";
    my $path = File::Spec->rel2abs($file);
    my $name = $kind eq 'cert' ? 'SSLCertificateFile' : 'SSLCertificateKeyFile';
    my $listen = ref $self->{listen} ? $self->{listen} : [ $self->{listen} // () ];
    my $all    = $kind eq 'cert' && !$self->is_mixed(@$listen);
    return ( '-C', qq($name "$path"), $all ? ( '-C', 'SSLEngine On' ) : () );
}

# The program, `cameleer`: named by a variable, in PATH, or beside this module as installed or built.
sub binary () {
    return $ENV{CAMELEER} if length( $ENV{CAMELEER} // '' );
    my ($found) = grep { -x && !-d _ } map { File::Spec->catfile( $_, 'cameleer' ) } File::Spec->path;
    return $found if $found;
    my $share = __FILE__ =~ s{/share/cameleer/perl/Plack/Handler/[^/]+\z}{}r;
    my ($near) = grep { -x && !-d _ } "$share/bin/cameleer", "$share/sbin/cameleer";
    return $near // 'cameleer';
}

# The program that runs now, and its arguments. /proc/self/cmdline has lost them: Perl writes there what is assigned
# to $0, and plackup does that.
sub program_words () { return ( File::Spec->rel2abs($0), @ARGV ) }

# Code that loads the program in the server, with the folders of -I, `use lib` and PERL5LIB.
sub loader (@program) {
    my $words   = join ', ', map { quoted($_) } @program;
    my $folders = join ', ', map { quoted( File::Spec->rel2abs($_) ) } grep { !ref && -d } @INC;
    return "BEGIN { unshift \@INC, grep { my \$folder = \$_; !grep { \$_ eq \$folder } \@INC } $folders } "
        . "require Plack::Handler::Cameleer; Plack::Handler::Cameleer::application($words)";
}

sub quoted ($text) { return q{'} . $text =~ s/([\\'])/\\$1/gr . q{'} }

# Runs a program up to its call of the server, and returns the application.
sub application ( $program, @words ) {
    my ( $app, $error ) = captured( $program, @words );
    return $app if $app;
    die $error  if $error;
    die "$program: it ended without starting the server\n";
}

sub captured ( $program, @words ) {
    local $0        = $program;
    # An application may look at @ARGV in its requests, as under other servers.
    @ARGV = @words;
    local $captures = 1;
    local $captured;
    local $@;
    no warnings 'redefine';
    # The loader of plackup -r would fork: the process that watches files is another one, outside of the server.
    local *Plack::Loader::Restarter::run = sub ( $self, $server ) { $server->run( $self->{builder}->() ) }
        if eval { require Plack::Loader::Restarter };
    run_program($program);
    return ( $captured, $@ );
}

# Server::Starter passes its sockets by numbers of descriptors; systemd's way, which the server knows, begins with 3.
sub pass_sockets () {
    my $passed = $ENV{SERVER_STARTER_PORT} // return;
    require POSIX;
    my @sockets = map { /=(\d+)\z/ ? $1 : die "SERVER_STARTER_PORT: expected ADDRESS=DESCRIPTOR, got \"$_\"\n" } split /;/, $passed;
    # Copies beyond the range first: a target may be another socket's present number.
    my @copies = map { POSIX::dup2( $_, 100 + $_ ) // die "descriptor $_ of SERVER_STARTER_PORT: $!\n" } @sockets;
    for my $at ( 0 .. $#copies ) {
        POSIX::dup2( $copies[$at], 3 + $at ) // die "descriptor $copies[$at]: $!\n";
        POSIX::close( $copies[$at] );
    }
    @ENV{qw(LISTEN_FDS LISTEN_PID)} = ( scalar @sockets, $$ );
    return;
}

1;

__END__

=head1 NAME

Plack::Handler::Cameleer - plackup -s Cameleer

=head1 SYNOPSIS

    % plackup -s Cameleer --workers 10 --max-requests 1000 --listen :8080 app.psgi

=head1 DESCRIPTION

This is the handler by which L<plackup>, L<Plack::Runner> and L<Plack::Loader> start Cameleer. The process becomes
the server: the program C<cameleer> of the variable C<CAMELEER>, of C<PATH>, or the one installed with this module.

A code reference cannot be passed to another program. So the server runs the same program once more, with its
arguments, up to its call of the server, and takes the application from there: before the fork of its workers, and
again at each reload. Code above that call runs twice at the start.

=head1 OPTIONS

C<--host>, C<--port>, C<--listen>, C<--socket>, C<--workers>, C<--max-requests>, C<--pid>, C<--user>, C<--group>,
C<--error-log>, C<--log-level>, C<--daemonize>, C<--backlog>, C<--keepalive-timeout>, C<--max-keepalive-reqs>,
C<--disable-keepalive>, C<--read-timeout>, C<--timeout>, C<--enable-ssl> with C<--ssl-cert> and C<--ssl-key>. They
mean the same as for Starman and Starlet. With C<:ssl> at the end of some addresses of C<--listen>, only the clients of
these speak TLS. C<--preload-app> and C<--disable-proctitle> are accepted: the program is always loaded before
the fork. Other options are ignored with a warning.

The sockets of L<Server::Starter> (C<SERVER_STARTER_PORT>) and of systemd are used where they are passed.

=cut
