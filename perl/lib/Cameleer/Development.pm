package Cameleer::Development;

use v5.36;

use Cameleer::PSGI ();
use POSIX          ();
use Time::HiRes    ();

# Bytes of a body object that are read to add the script.
my $MAX_PAGE_BYTES = 4_000_000;

my $SCRIPT = '<script src="/.cameleer/dev/reload.js" async></script>';

# Methods of DBI that send a query. A method that calls another is counted once.
my %METHODS = (
    'DBI::st' => [qw(execute)],
    'DBI::db' => [qw(do selectrow_array selectrow_arrayref selectrow_hashref selectall_array selectall_arrayref selectall_hashref selectcol_arrayref)],
);

# The middleware of plackup -E development, in its order.
my @MIDDLEWARE = map {"Plack::Middleware::$_"} qw(Lint StackTrace AccessLog);

# Files that prepare() has loaded, and their paths.
my %PREPARED;

our ( $queries, $query_time, $is_query, $counts ) = ( 0, 0, 0, 0 );

sub load_file ( $file, $list = '' ) { return wrapped( Cameleer::PSGI::load_file($file), $list ) }
sub load_code ( $code, $list = '' ) { return wrapped( Cameleer::PSGI::load_code($code), $list ) }

sub wrapped ( $app, $list ) {
    $app = with_middleware($app) if ( $ENV{PLACK_ENV} // '' ) eq 'development';
    write_list($list)            if length $list;
    return sub ($env) { measured( $app, $env ) };
}

# Loads the middleware before a reload (PerlPrepare), if the program that serves has loaded it from where this process
# finds it: a program may have its own Plack, and adds its folder only when it is loaded.
sub prepare ($list) {
    return if ( $ENV{PLACK_ENV} // '' ) ne 'development';
    my %loaded = map { $_ => 1 } read_list($list);
    my %before = %INC;
    for my $class (@MIDDLEWARE) {
        my $path = found( file_of($class) );
        last if !defined $path || !$loaded{$path} || !eval "require $class";    ## no critic: the names are above
    }
    %PREPARED = map { $_ => $INC{$_} } grep { !exists $before{$_} } keys %INC;
    return;
}

# Forgets what prepare() has loaded if the program's own folders have another file of the same name. Returns whether
# subs will be defined once more.
sub forget_others () {
    return 0 if !grep { ( found($_) // '' ) ne $PREPARED{$_} } keys %PREPARED;
    delete @INC{ grep {m{\A(?:Plack|Devel/StackTrace|Apache/LogFormat)\b}} keys %PREPARED };
    %PREPARED = ();
    return 1;
}

sub file_of ($class) { return $class =~ s{::}{/}gr . '.pm' }

# The path that %INC has for a file that is loaded now.
sub found ($file) {
    my ($path) = grep {-f} map {"$_/$file"} grep { !ref } @INC;
    return $path;
}

sub read_list ($list) {
    open my $in, '<', $list or return;
    chomp( my @paths = readline $in );
    return @paths;
}

sub with_middleware ($app) {
    local $SIG{__WARN__} = sub ($text) { warn $text if $text !~ / redefined at / } if forget_others();
    for my $class (@MIDDLEWARE) {
        if ( !eval "require $class" ) {    ## no critic: the names are above
            warn "cameleer dev: $class cannot be loaded; install Plack for pages of exceptions, checks and the access log\n";
            return $app;
        }
        $app = $class->wrap($app);
    }
    return $app;
}

# `cameleer dev` watches these files as well. Without the list it watches the program's folder.
sub write_list ($list) {
    open my $out, '>', "$list.$$" or return;
    print $out map {"$_\n"} grep { defined && !ref && !/\n/ } values %INC;
    close $out and rename "$list.$$", $list;
    return;
}

sub measured ( $app, $env ) {
    count_queries() if !$counts && $INC{'DBI.pm'};
    local ( $queries, $query_time ) = ( 0, 0 );
    my ( $began, $memory ) = ( Time::HiRes::time(), memory() );
    my $finish = sub ($response) {
        ref $response eq 'ARRAY' && ref $response->[1] eq 'ARRAY' or return $response;
        add_script( $response, $env );
        push @{ $response->[1] }, 'Server-Timing', timing( $began, $memory );
        return $response;
    };
    my $response = $app->($env);
    return $finish->($response) if ref $response ne 'CODE';
    return sub ($respond) {
        local ( $queries, $query_time ) = ( $queries, $query_time );
        $response->( sub ($late) { $respond->( $finish->($late) ) } );
    };
}

sub timing ( $began, $memory ) {
    my $now = memory();
    return sprintf 'app;dur=%.1f, queries;dur=%.1f;desc="%d queries", memory;desc="%.1f MB, %+d kB"',
        1000 * ( Time::HiRes::time() - $began ), 1000 * $query_time, $queries, $now / 1024, $now - $memory;
}

# Resident memory of this process in kB.
sub memory () {
    state $page = POSIX::sysconf( POSIX::_SC_PAGESIZE() ) / 1024;
    open my $in, '<', '/proc/self/statm' or return 0;
    return ( split ' ', readline $in )[1] * $page;
}

sub count_queries () {
    $counts = 1;
    no strict 'refs';
    no warnings 'redefine';
    for my $package ( keys %METHODS ) {
        for my $method ( grep { defined &{"${package}::$_"} } @{ $METHODS{$package} } ) {
            my $code = \&{"${package}::$method"};
            *{"${package}::$method"} = sub { $is_query ? &$code : counted( $code, wantarray, @_ ) };
        }
    }
    return;
}

sub counted ( $code, $wants, @arguments ) {
    local $is_query = 1;
    $queries++;
    my $began = Time::HiRes::time();
    my @result = $wants ? $code->(@arguments) : scalar $code->(@arguments);
    $query_time += Time::HiRes::time() - $began;
    return $wants ? @result : $result[0];
}

# Adds the script that loads a page again after a change: to whole pages of HTML only, and not where the page's
# Content-Security-Policy forbids it.
sub add_script ( $response, $env ) {
    my ( $status, $headers, $body ) = @$response;
    return if !defined $body || $status == 206;
    my %header;
    for ( my $at = 0; $at < @$headers; $at += 2 ) { push @{ $header{ lc $headers->[$at] } }, $headers->[ $at + 1 ] }
    return if ( $header{'content-type'}[0] // '' ) !~ m{\Atext/html\b}i || $header{'content-encoding'};
    return if grep { !allows($_) } @{ $header{'content-security-policy'} // [] };
    my $pieces = ref $body eq 'ARRAY' ? $body : read_page( $response, $header{'content-length'}[0] ) // return;
    my $page   = join '', grep {defined} @$pieces;
    return if $page =~ /<meta[^>]+http-equiv\s*=\s*["']?content-security-policy/i;
    my $at = rindex lc $page, '</body>';
    # A response to HEAD may have no body, and then the length that GET will have is not known.
    return leave_length_out($headers) if $at < 0 && !length $page && $env->{REQUEST_METHOD} eq 'HEAD';
    return if $at < 0;
    substr $page, $at, 0, $SCRIPT;
    $response->[2] = [$page];
    for ( my $name = 0; $name < @$headers; $name += 2 ) {
        $headers->[ $name + 1 ] += length $SCRIPT if lc $headers->[$name] eq 'content-length';
    }
    return;
}

sub leave_length_out ($headers) {
    my @at = grep { !( $_ % 2 ) && lc $headers->[$_] eq 'content-length' } 0 .. $#$headers;
    splice @$headers, $_, 2 for reverse @at;
    return;
}

# A body object with a known length is no stream, and can be read at once.
sub read_page ( $response, $length ) {
    my $body = $response->[2];
    return if !defined $length || $length !~ /\A\d+\z/ || $length > $MAX_PAGE_BYTES;
    local $/ = \65536;
    my @pieces;
    while ( defined( my $piece = $body->getline ) ) { push @pieces, $piece }
    $body->close;
    return $response->[2] = \@pieces;
}

# Whether a policy allows a script, and connections, of the page's own site.
sub allows ($policy) {
    my %sources;
    for ( split /;/, $policy ) {
        my ( $name, @words ) = split ' ';
        $sources{ lc $name } //= \@words if defined $name;
    }
    for my $names ( [qw(script-src-elem script-src default-src)], [qw(connect-src default-src)] ) {
        my ($words) = grep {defined} @sources{@$names};
        next if !$words;
        return 0 if grep { lc eq q{'strict-dynamic'} } @$words;
        return 0 if !grep { $_ eq '*' || lc eq q{'self'} } @$words;
    }
    return !exists $sources{sandbox};
}

1;

__END__

=head1 NAME

Cameleer::Development - what `cameleer dev` adds to a PSGI application

=head1 DESCRIPTION

C<cameleer dev app.psgi> loads the application by this module. With C<PLACK_ENV=development> it is wrapped as
L<plackup> wraps it: by L<Plack::Middleware::Lint>, L<Plack::Middleware::StackTrace> and
L<Plack::Middleware::AccessLog>.

Each response has a header C<Server-Timing>, which browsers show in their developer tools: the time of
the application, the number and the time of its queries through L<DBI>, and the memory of the worker.

Pages of HTML get a script before C<< </body> >> that loads them again after a change. Streamed pages, compressed
pages, and pages whose C<Content-Security-Policy> forbids scripts or connections of their own site do not get it.

=cut
