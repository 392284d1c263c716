# Apache::FakeRequest: fields, headers and methods of a request without a server; run by packages.t

use v5.36;

return {
    new_sets_fields                    => [ sub ($r) { my $f = Apache::FakeRequest->new( uri => '/x', method => 'HEAD' ); join '|', $f->uri, $f->method, $f->header_only, $f->status }, '/x|HEAD|1|200' ],
    args_is_a_list_of_pairs            => [ sub ($r) { my %a = Apache::FakeRequest->new( args => 'a=1;b=x=y&c' )->args; join '|', map {"$_:$a{$_}"} sort keys %a }, 'a:1|b:x=y|c:' ],
    fields_may_be_set                  => [ sub ($r) { my $f = Apache::FakeRequest->new; join '|', $f->custom(5) // 'undef', $f->custom, $f->notes( n => 1 ) // 'undef' }, 'undef|5|undef' ],
    header_in_reads_the_given_headers  => [ sub ($r) { my $f = Apache::FakeRequest->new( headers => { Host => 'h' } ); join '|', $f->header_in('Host'), $f->header_in('None') // 'undef' }, 'h|undef' ],
    send_http_header_prints_the_header => [ sub ($r) { my $f = Apache::FakeRequest->new; $f->header_out( 'X-A' => 1 ); $f->send_http_header('text/x'); '' }, "Content-Type: text/x\nX-A: 1\n\n" ],
    printf_prints_formatted_text       => [ sub ($r) { Apache::FakeRequest->new->printf( '%03d', 7 ); '' }, '007' ],
    connection_and_server_exist        => [ sub ($r) { my $f = Apache::FakeRequest->new; join '|', $f->connection->remote_ip, $f->server->port, $f->isa('Apache') }, '127.0.0.1|80|1' ],
    leaks_nothing                      => [ sub ($r) { TestServer::growth( sub { my $f = Apache::FakeRequest->new( uri => '/' ); $f->connection; $f->custom(1) } ) }, 'steady' ],
};
