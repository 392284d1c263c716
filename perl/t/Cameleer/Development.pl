# Cameleer::Development: timing headers, queries, and the script in pages; run by packages.t

use v5.36;

# Loaded in the server only.
my sub measured (@of) {
    require Cameleer::Development;
    return Cameleer::Development::measured(@of);
}

my sub of ( $headers, $body, %env ) {
    my $response = measured( sub ($env) { [ 200, $headers, $body ] }, { REQUEST_METHOD => 'GET', %env } );
    return join '', @{ $response->[2] };
}

my sub has_script ( $policy, $page = '<body></body>' ) {
    return of( [ 'Content-Type' => 'text/html', $policy ? ( 'Content-Security-Policy' => $policy ) : () ], [$page] ) =~ /reload\.js/ ? 'yes' : 'no';
}

return {
    a_page_gets_the_script => [ sub ($r) { of( [ 'Content-Type' => 'text/html; charset=utf-8' ], [ '<body>', 'a</BODY>', '</html>' ] ) }, qr{\A<body>a<script src="/[^"]+" async></script></BODY></html>\z} ],
    the_length_grows_with_it => [
        sub ($r) {
            my $headers = [ 'Content-Type' => 'text/html', 'Content-Length' => 7 ];
            my $page    = of( $headers, ['</body>'] );
            $headers->[3] - length $page;
        },
        '0'
    ],
    a_body_object_is_read => [ sub ($r) { open my $in, '<', \'a</body>' or die $!; of( [ 'Content-Type' => 'text/html', 'Content-Length' => 8 ], $in ) }, qr/reload\.js/ ],
    other_types_and_fragments_do_not => [ sub ($r) { join '|', of( [ 'Content-Type' => 'text/plain' ], ['</body>'] ), of( [ 'Content-Type' => 'text/html' ], ['<p>'] ), of( [ 'Content-Type' => 'text/html', 'Content-Encoding' => 'gzip' ], ['</body>'] ) }, '</body>|<p>|</body>' ],
    a_policy_may_forbid_it => [
        sub ($r) { join ' ', map { has_script($_) } q{default-src 'none'}, q{script-src 'nonce-x'}, q{script-src 'self'; connect-src api.example}, q{sandbox}, q{script-src 'self' 'strict-dynamic' 'nonce-a'} },
        'no no no no no'
    ],
    a_policy_may_allow_it => [ sub ($r) { join ' ', map { has_script($_) } undef, q{default-src 'self'}, q{img-src 'none'}, q{Script-Src *; style-src 'none'} }, 'yes yes yes yes' ],
    a_policy_in_the_page_forbids_it => [ sub ($r) { has_script( undef, q{<meta http-equiv="Content-Security-Policy" content="x"></body>} ) }, 'no' ],
    responses_have_their_timing => [
        sub ($r) {
            my $response = measured( sub ($env) { [ 200, [], [] ] }, { REQUEST_METHOD => 'GET' } );
            join ': ', @{ $response->[1] };
        },
        qr/\AServer-Timing: app;dur=[\d.]+, queries;dur=0\.0;desc="0 queries", memory;desc="[\d.]+ MB, [+-]\d+ kB"\z/
    ],
    queries_are_counted_once => [
        sub ($r) {
            require DBI;
            my $dbh      = DBI->connect( 'dbi:SQLite:dbname=:memory:', '', '', { RaiseError => 1 } );
            my $response = measured(
                sub ($env) {
                    $dbh->do('create table t (a)');
                    $dbh->selectall_arrayref('select * from t');
                    my $sth = $dbh->prepare('insert into t values (?)');
                    $sth->execute($_) for 1 .. 3;
                    [ 200, [], [ scalar $dbh->selectrow_array('select count(*) from t') ] ];
                },
                { REQUEST_METHOD => 'GET' }
            );
            "$response->[2][0] $response->[1][1]";
        },
        qr/\A3 .*desc="6 queries"/
    ],
    a_part_of_a_page_has_no_script => [
        sub ($r) {
            my $part = [ 206, [ 'Content-Type' => 'text/html', 'Content-Range' => 'bytes 0-13/99', 'Content-Length' => 14 ], ['<body>a</body>'] ];
            measured( sub ($env) {$part}, { REQUEST_METHOD => 'GET' } )->[2][0];
        },
        '<body>a</body>'
    ],
    delayed_responses_have_it_too => [
        sub ($r) {
            my $said;
            measured(
                sub ($env) {
                    sub ($respond) { $respond->( [ 200, [], ['late'] ] ) }
                },
                { REQUEST_METHOD => 'GET' }
            )->( sub ($response) { $said = "$response->[2][0] $response->[1][0]" } );
            $said;
        },
        'late Server-Timing'
    ],
};
