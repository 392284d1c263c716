package Cameleer::Event::PAGI::Scope;

use v5.36;

# The head of a request of the front becomes a scope.

# The fields that decide about a request.
my %READ = map { $_ => 1 } qw(accept content-length sec-websocket-protocol transfer-encoding upgrade);

use constant VERSION => '0.3';

# The scope, and the fields of the connection by name.
sub of ( $method, $target, $fields ) {
    my ( @headers, %own, $cookie );
    for my $field (@$fields) {
        my ( $name, $value ) = @$field;
        if ( substr( $name, 0, 9 ) eq 'cameleer-' ) {
            my $fact = substr $name, 9;
            if   ( $fact eq 'tls-client-cert' ) { push @{ $own{$fact} }, $value =~ tr/,/\n/r }
            else                                { $own{$fact} = $value }
            next;
        }
        if ( $name eq 'cookie' ) {
            if ($cookie) { $cookie->[1] .= "; $value"; next }
            $cookie = $field;
        }
        push @headers, $field;
        $own{":$name"} = defined $own{":$name"} ? "$own{\":$name\"}, $value" : $value if $READ{$name};
    }
    my ( $raw_path, $query ) = split /\?/, $target, 2;
    my $is_secure = ( $own{scheme} // 'http' ) eq 'https';
    my $type      = kind( $method, \%own );
    my $scope     = {
        type         => $type,
        pagi         => { version => VERSION, spec_version => VERSION },
        http_version => $own{protocol} // '1.1',
        scheme       => $type eq 'websocket' ? ( $is_secure ? 'wss' : 'ws' ) : $is_secure ? 'https' : 'http',
        path         => decoded($raw_path),
        raw_path     => $raw_path,
        query_string => $query // '',
        root_path    => decoded( $own{'script-name'} // '' ),
        headers      => \@headers,
        extensions   => $is_secure ? { tls => tls( \%own ) } : {},
    };
    $scope->{extensions}{'cameleer.warm_up'} = {} if $own{'warm-up'};
    if ( $type eq 'websocket' ) {
        $scope->{subprotocols} = [ grep { length } split /\s*,\s*/, trimmed( $own{':sec-websocket-protocol'} // '' ) ];
        $scope->{extensions}{'websocket.http.response'} = {};
    }
    else {
        $scope->{method} = $method;
        $scope->{extensions}{fullflush} = {};
    }
    for my $end ( grep { defined $own{$_} } qw(client server) ) {
        my ( $address, $port ) = $own{$end} =~ /\A(.*) ([0-9]+)\z/ or next;
        # A Unix socket has no port, and its path is not known here.
        next if $address eq '' || !$port;
        $scope->{$end} = [ $address, 0 + $port ];
    }
    return ( $scope, \%own );
}

sub kind ( $method, $own ) {
    return 'websocket' if $method eq 'GET' && lc( $own->{':upgrade'} // '' ) eq 'websocket';
    return ( $own->{':accept'} // '' ) =~ m{(?:\A|,)\s*text/event-stream\s*(?:[;,]|\z)}i ? 'sse' : 'http';
}

sub trimmed ($text) { return $text =~ s/\A\s+|\s+\z//gr }

# A percent-encoded text as characters; as bytes, if the bytes are no UTF-8.
sub decoded ($text) {
    $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge if index( $text, '%' ) >= 0;
    utf8::decode($text);
    return $text;
}

# The extension `tls`. The front has the server's certificate.
sub tls ($own) {
    my ($version) = ( $own->{'tls-version'} // '' ) =~ /1\.([0-3])\z/;
    my $cipher = $own->{'tls-cipher'} // '';
    return {
        server_cert       => undef,
        client_cert_chain => $own->{'tls-client-cert'} // [],
        client_cert_name  => $own->{'tls-client-name'},
        client_cert_error => undef,
        tls_version       => defined $version ? 0x0301 + $version : undef,
        cipher_suite      => $cipher =~ /\A0x[0-9A-Fa-f]{1,4}\z/ ? hex $cipher : undef,
    };
}

1;
