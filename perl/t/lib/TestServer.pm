package TestServer;

# A server with a test's configuration, in its own folder. The server ends with the test.
#
# Handlers are in the test's own file: the server loads it with PerlRequire, and `TestServer::in_server and return 1`
# ends the file there before its tests begin.

use v5.36;
use Carp       ();
use Cwd        ();
use File::Find ();

sub in_server { return exists $ENV{MOD_PERL} }

# Modules of the client. The server starts sooner without them, and code under test loads what it uses.
BEGIN {
    my @modules = in_server() ? () : qw(CurlClient File/Path File/Temp HTTP/Tiny IO/Socket/INET POSIX Test/More Time/HiRes);
    require "$_.pm" for @modules;
}

# Ways to reach the code, selected by TEST_DOOR: additional configuration, options of curl, and values that programs see.
# Every protocol is in one of them, and so are PerlTaintCheck and another user, which only root can switch to. Both are
# independent of the client's protocol, so they need no doors of their own.
my $TLS   = "SSLEngine On\nSSLCertificateFile door.crt\nSSLCertificateKeyFile door.key\n";
my %USER  = $> == 0 ? ( user => 'www-data' ) : ();
my $USER  = $> == 0 ? "User www-data\nGroup www-data\n" : '';
my %DOORS = (
    http => { scheme => 'http',  protocol => 'HTTP/1.1', conf => '' },
    tls  => { scheme => 'https', protocol => 'HTTP/1.1', conf => "$TLS$USER",                                 curl => '--http1.1', %USER },
    h2   => { scheme => 'https', protocol => 'HTTP/2.0', conf => "${TLS}Protocols h2 http/1.1\n",             curl => '--http2' },
    h2c  => { scheme => 'http',  protocol => 'HTTP/2.0', conf => "Protocols h2c http/1.1\nPerlTaintCheck On\n", curl => '--http2-prior-knowledge', taint => 1 },
);

# Timeout of all waits of a test, in seconds; as in tests/support/wait.rs.
my $PATIENCE = $ENV{CAMELEER_PATIENCE} // 120;

my @running;

# The names of all ways to connect; tests/perl_api/perl_tests.rs goes through each.
sub doors { return sort keys %DOORS }

sub door     { return $DOORS{ $ENV{TEST_DOOR} || 'http' } // die "TEST_DOOR: one of @{[ sort keys %DOORS ]}\n" }
sub scheme   { return door()->{scheme} }
sub protocol { return door()->{protocol} }

# 1 if the server has PerlTaintCheck On, otherwise 0; in the test and in the server.
sub is_tainted { return door()->{taint} // 0 }

# The number of the user that workers run as.
sub served_as { return door()->{user} ? scalar getpwnam door()->{user} : $> }

# The output of `cameleer check` for a configuration.
sub check ( $class, $conf, %files ) {
    my $self = $class->prepare( $conf, %files );
    my ($program) = $self->command;
    return scalar qx{$program check -f $self->{dir}/site.conf 2>&1};
}

# Files by name; `args` are further words of the command line.
sub spawn ( $class, $conf, %files ) {
    my $args = delete $files{args} // [];
    my $self = $class->prepare( $conf, %files );
    $self->start(@$args);
    return $self;
}

# Prepares a server without starting it; `command` returns the command line.
sub prepare ( $class, $conf, %files ) {
    my $port = reserve_port();
    my $self = bless { dir => File::Temp::tempdir( 'cameleer-XXXXXX', TMPDIR => 1 ), owner => $$, gone => 1 }, $class;
    @$self{qw(port reserved)} = ( $port->sockport, $port );
    push @running, $self;
    chmod 0755, $self->{dir};
    $self->certify if scheme() eq 'https';
    $self->write( $_, $files{$_} ) for sort keys %files;
    $self->write( 'site.conf', $self->preamble( $files{'app.psgi'} ) . $conf =~ s/\@ROOT\@/$self->{dir}/gr );
    return $self;
}

sub certify ($self) {
    my @files = ( '-keyout', "$self->{dir}/door.key", '-out', "$self->{dir}/door.crt" );
    my @names = ( '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1' );
    my @key   = qw(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes);
    return system("openssl req -x509 @key @files @names 2>/dev/null") == 0 || die 'openssl makes no certificate';
}

# The folder belongs to the server's user, because handlers write to it.
sub command ($self) {
    chown served_as(), -1, $self->{dir};
    my $program = $ENV{CAMELEER} // Carp::croak('CAMELEER must name the program to test');
    return ( $program, 'serve', '-f', "$self->{dir}/site.conf" );
}

# Handlers are in the test's file, an application in its own.
sub preamble ( $self, $app = undef ) {
    my $code = $app ? '' : 'PerlRequire ' . Cwd::abs_path($0);
    return <<"END";
ServerRoot $self->{dir}
Listen 127.0.0.1:$self->{port}
ServerName localhost
ServerAdmin webmaster\@example.org
DocumentRoot $self->{dir}
ErrorLog error.log
PidFile server.pid
StartServers 1
MinSpareServers 1
MaxSpareServers 1
MaxClients 1
$code
@{[ door()->{conf} ]}
END
}

# A socket that is bound and never listens: while it lives, the kernel gives its port only to a server that names it.
sub reserve_port {
    return IO::Socket::INET->new( Proto => 'tcp', LocalAddr => '127.0.0.1', ReuseAddr => 1 ) // die "no free port: $!";
}

sub write ( $self, $name, $text, $mode = 0755 ) {
    my $file = "$self->{dir}/$name";
    File::Path::make_path( $file =~ s{/[^/]*\z}{}r );
    open my $handle, '>:raw', $file or die "$file: $!";
    print {$handle} $text;
    close $handle;
    chmod $mode, $file;
    return $file;
}

sub start ( $self, @args ) {
    my @command = $self->command;
    $self->{gone} = 0;
    $self->{pid}  = fork // die "fork: $!";
    if ( !$self->{pid} ) {
        delete $ENV{MOD_PERL};
        $ENV{TEST_SERVER} = $self->{dir};
        open STDOUT, '>', "$self->{dir}/output" or die $!;
        open STDERR, '>&', \*STDOUT or die $!;
        exec @command, @args or POSIX::_exit(127);
    }
    # Each attempt at a request may be a process of curl.
    $self->wait_for( 'its URL',   sub { $self->slurp('output') =~ m{https?://} } );
    $self->wait_for( 'an answer', sub { $self->client->get( $self->url('/') )->{status} != 599 } );
    return;
}

sub client ($self) {
    return $self->curl if door()->{curl};
    return HTTP::Tiny->new( timeout => $PATIENCE, max_redirect => 0 );
}

sub curl ($self) {
    my @tls = scheme() eq 'https' ? ( '--cacert', "$self->{dir}/door.crt" ) : ();
    return CurlClient->new( door()->{curl} // '--http1.1', @tls );
}

# A client that disconnects before the end of the response.
sub leave ( $self, $path ) { return $self->curl->leave( $self->url($path) ) }

sub wait_for ( $self, $what, $condition ) {
    my $met;
    my $over = sub { ( $met = $condition->() ) || waitpid( $self->{pid}, POSIX::WNOHANG() ) == $self->{pid} && ( $self->{gone} = 1 ) };
    return 1 if $self->comes_true($over) && $met;
    die "waited $PATIENCE s in vain for $what; the server said:\n" . $self->said;
}

sub comes_true ( $self, $condition ) {
    my $end = Time::HiRes::time() + $PATIENCE;
    while ( Time::HiRes::time() < $end ) {
        return 1 if $condition->();
        Time::HiRes::sleep(0.02);
    }
    return 0;
}

# Output and log of the server, for a failed test.
sub said ($self) { return $self->slurp('output') . $self->log }
sub log  ($self) { return $self->slurp('error.log') }

sub slurp ( $self, $name ) { return $self->slurp_path("$self->{dir}/$name") }

sub slurp_path ( $self, $path ) {
    open my $handle, '<:raw', $path or return '';
    local $/ = undef;
    return <$handle> // '';
}

sub url ( $self, $path ) { return scheme() . "://127.0.0.1:$self->{port}$path" }

sub request ( $self, $method, $path, %options ) {
    return $self->client->request( $method, $self->url($path), \%options );
}

# The answers to requests for these paths, in order. curl sends all of them as one process.
sub request_each ( $self, $method, $options, @paths ) {
    my @urls = map { $self->url($_) } @paths;
    return $self->curl->request_each( $method, \@urls, $options ) if door()->{curl};
    return map { $self->client->request( $method, $_, $options ) } @urls;
}

sub get_each ( $self, @paths ) { return $self->request_each( GET => {}, @paths ) }

sub post_each ( $self, $form, @paths ) {
    my %headers = ( 'Content-Type' => 'application/x-www-form-urlencoded' );
    return $self->request_each( POST => { content => $form, headers => \%headers }, @paths );
}

sub get ( $self, $path, %headers ) { return $self->request( GET => $path, headers => \%headers ) }

sub post ( $self, $path, $content, $type = 'application/x-www-form-urlencoded' ) {
    return $self->request( POST => $path, content => $content, headers => { 'Content-Type' => $type } );
}

# In the server: runs the code of the case that the path names, and responds with its result.
sub serve_cases ($cases) {
    no strict 'refs';    ## no critic: the handler's name is the configuration's
    *{'My::Cases::handler'} = sub ($r) { $r->print( $cases->{ $r->path_info =~ s{\A/}{}r }->($r) ); return 0 };
    return 1;
}

# In the test: requests each case and compares the result.
sub check_cases ( $class, $expected, $query = '' ) {
    my $server  = $class->spawn("<Location /u>\nSetHandler perl-script\nPerlHandler My::Cases\n</Location>\n");
    my @cases   = sort keys %$expected;
    my @answers = $server->get_each( map {"/u/$_$query"} @cases );
    Test::More::is( shift(@answers)->{content}, $expected->{$_}, $_ ) for @cases;
    return;
}

# The cases of packages: the value of Some/Package.pl beside the file is a hash of [ code, expected text or pattern ] by
# name. Matches untaint the files' names.
sub cases_beside ($file) {
    my ($folder) = Cwd::abs_path($file) =~ m{\A(.+)/}s;
    my @names;
    File::Find::find( { no_chdir => 1, wanted => sub { push @names, $1 if m{\A\Q$folder\E/((?!lib2/).+)\.pl\z}s } }, $folder );
    return map { ( $_ => evaluated("$folder/$_.pl") ) } @names;
}

sub evaluated ($file) {
    package main;
    my $value = do $file;
    return $value || die "$file: ", $@ || $!;
}

# In the server: runs the case that the path names. Only its package and the server's own modules are loaded.
sub serve_packages ($cases) {
    no strict 'refs';    ## no critic: likewise
    *{'My::Cases::handler'} = sub ($r) {
        my ( $name, $case ) = $r->path_info =~ m{\A/(.+)/(\w+)\z};
        my $said = eval { require "$name.pm"; $cases->{$name}{$case}[0]->($r) } // "died: $@";
        $r->print($said);
        return 0;
    };
    return 1;
}

# In the test: requests each case of each package and compares the results.
sub check_packages ( $server, $cases ) {
    my @all = map {
        my $name = $_;
        map { [ $name, $_ ] } sort keys %{ $cases->{$name} }
    } sort keys %$cases;
    my @answers = $server->post_each( 'c=3', map {"/case/$_->[0]/$_->[1]?a=1&b=2"} @all );
    for my $each (@all) {
        my ( $name, $case ) = @$each;
        my $content  = shift(@answers)->{content};
        my $expected = $cases->{$name}{$case}[1];
        ref $expected ? Test::More::like( $content, $expected, "$name: $case" ) : Test::More::is( $content, $expected, "$name: $case" );
    }
    return;
}

# In the server: the path of a file in its folder, without taint, with this text if one is given.
sub own_file ( $name, $text = undef ) {
    my ($path) = "$ENV{TEST_FOLDER}/$name" =~ /\A(.+)\z/s;
    return $path if !defined $text;
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $text;
    close $out;
    return $path;
}

# In the server: whether calls of the code leave values in memory, after ten calls that fill its caches. Code that reads
# the memory of its process is slow, and is called less often.
sub growth ( $code, $calls = 200 ) {
    require Cameleer::XS;
    Cameleer::XS::load('Apache::Leak') unless defined &Apache::Leak::count;
    $code->() for 1 .. 10;
    my $before = Apache::Leak::count();
    $code->() for 1 .. $calls;
    my $more = Apache::Leak::count() - $before;
    return $more < $calls / 10 ? 'steady' : "$more values more";
}

# Runs at the end of the test rather than in a destructor, because Test::More is then still available. A server that
# does not stop as it should makes the test's exit code 1.
END {
    my $code = $?;
    $_->stop for @running;
    my $bad = grep { $_->{stopped_badly} } @running;
    $? = $code || ( $bad ? 1 : 0 );
}

sub stop ($self) {
    return if $self->{owner} != $$;
    $self->end_processes unless $self->{gone};
    if ( Test::More->builder->is_passing && !$self->{stopped_badly} ) { File::Path::remove_tree( $self->{dir} ) }
    else                                                              { Test::More::diag( "$self->{dir}:\n" . $self->said ) }
    return;
}

# SIGTERM is a request to stop, so the exit code is 0, and no process of the server outlives the master.
sub end_processes ($self) {
    kill TERM => $self->{pid};
    my $ended = $self->comes_true( sub { waitpid( $self->{pid}, POSIX::WNOHANG() ) != 0 } );
    if    ( !$ended ) { $self->stopped_badly("process $self->{pid} has not ended $PATIENCE s after SIGTERM") }
    elsif ($?)        { $self->stopped_badly("the server's wait status after SIGTERM is $?, expected 0") }
    my @left;
    return if $self->comes_true( sub { !( @left = $self->processes ) } );
    $self->stopped_badly("processes that outlive the server: @left");
    kill KILL => @left;
    return;
}

sub stopped_badly ( $self, $why ) {
    $self->{stopped_badly} = 1;
    Test::More::diag($why);
    return;
}

# Processes that were started with the server's mark in their environment, wherever they have moved since. A zombie has
# no environment.
sub processes ($self) {
    return grep { $self->slurp_path("/proc/$_/environ") =~ /(?:\A|\0)TEST_SERVER=\Q$self->{dir}\E\0/ } map { m{(\d+)\z}a } glob '/proc/[0-9]*';
}

1;
