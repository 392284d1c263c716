# Apache::httpd_conf: writes an httpd.conf from its settings; run by packages.t

use v5.36;

# The quotation marks tell the package from the function Apache::httpd_conf.
return {
    new_has_defaults             => [ sub ($r) { my $c = 'Apache::httpd_conf'->new( base => '/b' ); join '|', $c->Port, $c->ServerRoot, $c->DocumentRoot, $c->server_url }, '8529|/b|/b/docs|http://localhost:8529' ],
    setters_return_the_old_value => [ sub ($r) { my $c = 'Apache::httpd_conf'->new; join '|', $c->Port(80), $c->Port, $c->Timeout // 'undef' }, '8529|80|undef' ],
    an_unknown_method_dies       => [ sub ($r) { my $c = 'Apache::httpd_conf'->new; eval { $c->no_such }; $@ }, qr/\AApache::httpd_conf has no method no_such: .* at \S+httpd_conf\.pl line \d+/ ],
    a_method_of_the_class_dies   => [ sub ($r) { eval { 'Apache::httpd_conf'->Port }; $@ }, qr/has no method Port/ ],
    write_writes_the_file        => [
        sub ($r) {
            my $file = 'Apache::httpd_conf'->new( base => TestServer::own_file('conf') )->write( Port => 81, KeepAlive => 'Off' );
            open my $in, '<', $file or return "$file: $!";
            join '', grep {/^(?:ServerRoot|Listen|KeepAlive)/} <$in>;
        },
        qr{\AServerRoot \S+/conf\nKeepAlive Off\nListen 127\.0\.0\.1:81\n\z},
    ],
    an_unwritable_folder_dies    => [ sub ($r) { eval { 'Apache::httpd_conf'->new( base => '/proc/none' )->write }; $@ ? 'died' : 'written' }, 'died' ],
    a_missing_pid_file_dies      => [ sub ($r) { eval { 'Apache::httpd_conf'->new( base => '/no/such' )->pid }; $@ }, "cannot open /no/such/logs/httpd.pid: No such file or directory\n" ],
    leaks_nothing                => [ sub ($r) { TestServer::growth( sub { 'Apache::httpd_conf'->new( base => '/b' )->Port(1) } ) }, 'steady' ],
};
