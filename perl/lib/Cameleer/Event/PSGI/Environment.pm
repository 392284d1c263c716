package Cameleer::Event::PSGI::Environment;

use v5.36;
use re 'taint';

# The environment of a request, with the keys that blocking workers have.

# Fields that are no variables: `Proxy` would become HTTP_PROXY, which many HTTP clients obey.
my %HIDDEN = map { $_ => 1 } qw(content-type content-length transfer-encoding proxy);

# `length`: of the body. `input`: a handle of it.
sub of ( $method, $target, $fields, $length, $input ) {
    my ( $own, $headers ) = sorted($fields);
    my ( undef, $query )  = split /\?/, $target, 2;
    my ( $address, $port ) = split / /, $own->{client} // '';
    my %env = (
        constants( $own, $input ),
        variables($own),
        paths( $own, $target ),
        SERVER_NAME     => decoded( $own->{'server-name'} // '' ),
        SERVER_PORT     => $own->{'server-port'} // 80,
        QUERY_STRING    => $query // '',
        REQUEST_METHOD  => $method,
        REQUEST_URI     => defined $own->{target} ? decoded( $own->{target} ) : $target,
        SERVER_PROTOCOL => protocol( $own->{protocol} // '' ),
        REMOTE_ADDR     => $address // '',
        REMOTE_PORT     => $port    // 0,
    );
    $env{REMOTE_HOST}    = decoded( $own->{'client-name'} ) if defined $own->{'client-name'};
    $env{CAMELEER_WARMUP} = 1                               if $own->{'warm-up'};
    $env{REMOTE_USER}    = $own->{user}                     if defined $own->{user};
    $env{AUTH_TYPE}      = decoded( $own->{'auth-type'} )   if defined $own->{'auth-type'};
    $env{CONTENT_TYPE}   = $headers->{'content-type'}[0]    if $headers->{'content-type'};
    $env{CONTENT_LENGTH} = $length                          if $length || $headers->{'content-length'};
    for my $name ( grep { !$HIDDEN{$_} && /\A[a-z0-9-]+\z/ } keys %$headers ) {
        # A name with `_` could pose as another field, which a proxy had checked.
        $env{ 'HTTP_' . uc $name =~ tr/-/_/r } = join $name eq 'cookie' ? '; ' : ', ', @{ $headers->{$name} };
    }
    return \%env;
}

sub constants ( $own, $input ) {
    return (
        'psgi.version'           => [ 1, 1 ],
        'psgi.url_scheme'        => ( $own->{scheme} // '' ) eq 'https' ? 'https' : 'http',
        'psgi.input'             => $input,
        'psgi.errors'            => \*STDERR,
        'psgi.multithread'       => !!0,
        'psgi.multiprocess'      => !!1,
        'psgi.run_once'          => !!0,
        'psgi.nonblocking'       => !!1,
        'psgi.streaming'         => !!1,
        'psgix.input.buffered'   => !!1,
        'psgix.cleanup'          => !!1,
        'psgix.cleanup.handlers' => [],
    );
}

# The fields of the front, without their beginning, and those of the client, as lists of values.
sub sorted ($fields) {
    my ( %own, %headers );
    for my $field (@$fields) {
        my ( $name, $value ) = @$field;
        if   ( $name =~ /\Acameleer-(.+)/ ) { $own{$1} = $value }
        else                                { push @{ $headers{$name} }, $value }
    }
    return ( \%own, \%headers );
}

# The variables of the configuration: `NAME=value`, each with a NUL at its end.
sub variables ($own) {
    my @pairs = map { [ split /=/, $_, 2 ] } split /\0/, decoded( $own->{variables} // '' );
    return map { ( $_->[0] => $_->[1] // '' ) } @pairs;
}

# The front finds the application by a path without `..` and doubled slashes. Plack's tests want the doubled ones, which are
# the client's; after an internal redirect the client's target is about another place.
sub paths ( $own, $target ) {
    my $path   = decoded( $own->{path} // $target =~ s/\?.*//sr );
    my $mount  = $own->{'script-name'} // '';
    my $script = substr $path, 0, length $mount;
    my ($raw)  = split /\?/, decoded( $own->{target} // '' ), 2;
    if ( defined $raw && $raw =~ m{\A/} && $raw =~ m{//} ) {
        my $sent = decoded($raw);
        $path = $sent if $sent =~ s{//+}{/}gr eq $path && substr( $sent, 0, length $script ) eq $script;
    }
    return ( SCRIPT_NAME => $script, PATH_INFO => substr $path, length $script );
}

sub protocol ($version) { return $version eq '1.0' ? 'HTTP/1.0' : $version eq '2' ? 'HTTP/2.0' : 'HTTP/1.1' }

sub decoded ($text) { return $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger }

1;
