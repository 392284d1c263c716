# CGI scripts under Registry: output, environment and state of the first and the second run.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;
TestServer::in_server() and return 1;

use Test::More;

my $HEAD = 'print "Content-type: text/plain\n\n";';

# Scripts, and their responses to a first and a second request.
my %SCRIPTS = (
    hello    => [ qq{$HEAD print "hi"},                                       'hi' ],
    globals  => [ qq{$HEAD print ++\$n},                                      '1', '2' ],
    stale    => [ qq{$HEAD my \$x = 5; sub show { print \$x++ } show()},      '5', '6' ],
    exits    => [ qq{$HEAD print "a"; exit 3; print "b"},                     'a' ],
    returns  => [ qq{$HEAD print "a"; return 9; print "b"},                   'a' ],
    data     => [ qq{$HEAD print <DATA>;\n__END__\none\ntwo\n},               "one\ntwo\n" ],
    rewind   => [ qq{$HEAD my \$at = tell DATA; print <DATA>; seek DATA, \$at, 0; print <DATA>;\n__DATA__\nx\n}, "x\nx\n" ],
    heredoc  => [ qq{my \$t = <<"X";\n__END__\nX\n$HEAD print \$t},           "__END__\n" ],
    pod      => [ qq{=pod\n\n__END__\n\n=cut\n\n$HEAD print "code"},          'code' ],
    begin    => [ qq{BEGIN { \$b++ } $HEAD print \$b},                        '1' ],
    end      => [ qq{$HEAD END { print "end" } print "body "},                'body end' ],
    endexit  => [ qq{$HEAD END { print "end" } print "body "; exit},          'body end' ],
    zero     => [ qq{$HEAD print \$0 =~ m{([^/]+)\\z}},                       'zero.pl' ],
    folder   => [ qq{use Cwd; $HEAD print getcwd() =~ m{([^/]+)\\z}},         'cgi' ],
    findbin  => [ qq{use FindBin; $HEAD print \$FindBin::Script, \$FindBin::Bin =~ m{([^/]+)\\z}}, 'findbin.plcgi' ],
    request  => [ qq{my \$r = shift; \$r->send_http_header("text/plain"); print \$r->uri},         '/cgi/request.pl' ],
    package  => [ qq{$HEAD print __PACKAGE__},                                'Apache::ROOT::cgi::package_2epl' ],
    line     => [ qq{$HEAD\n\nprint __LINE__, " ", __FILE__ =~ m{([^/]+)\\z}}, '3 line.pl' ],
    warnings => [ qq{#!/usr/bin/perl -w\n$HEAD print \$^W},                    '1' ],
    argv     => [ qq{$HEAD print join ",", \@ARGV},                           'w1,w 2', undef, '?w1+w%202' ],
    noargv   => [ qq{$HEAD print scalar \@ARGV},                              '0', undef, '?a=1' ],
    handler  => [ qq{$HEAD sub handler { "mine" } print handler()},           'mine' ],
    builtin  => [ qq{$HEAD sub lc { "sub" } print &lc, lc "X"},               'subx' ],
    comment  => [ qq{$HEAD print "x" # no line end},                          'x' ],
    fresh    => [ qq{$HEAD print defined \$/ ? "set" : "unset"; undef \$/; \$| = 1; \$, = "-"; chdir "/"}, 'set' ],
    system   => [ qq{\$| = 1; $HEAD print "a"; \$ENV{PATH} = "/usr/bin:/bin"; system "printf b"; print "c"}, 'abc' ],
    fork     => [ qq{$HEAD print "a"; if (my \$p = fork) { waitpid \$p, 0 } else { print "child"; exit } print "b"}, qr/\Aa(?:child)?b\z/ ],
    cgi      => [ q{use CGI; my $q = CGI->new; print $q->header('text/plain'), $q->param('a') // 'none'},  '7', undef, '?a=7' ],
    html     => [ q{use CGI ':standard'; print header('text/plain'), h1('x')},                             '<h1>x</h1>' ],
);

my %files  = map { ( "cgi/$_.pl" => $SCRIPTS{$_}[0] ) } keys %SCRIPTS;
my $server = TestServer->spawn( <<'END', %files );
<Directory @ROOT@/cgi>
    SetHandler perl-script
    PerlHandler Apache::Registry
    Options +ExecCGI
    PerlSendHeader On
</Directory>
END

my @names   = sort keys %SCRIPTS;
my @answers = $server->get_each( map { ( "/cgi/$_.pl" . ( $SCRIPTS{$_}[3] // '' ) ) x 2 } @names );
for my $name (@names) {
    my ( undef, $first, $second ) = $SCRIPTS{$name}->@*;
    for my $expected ( $first, $second // $first ) {
        my $answer  = shift @answers;
        my $content = "$answer->{status} $answer->{content}";
        ref $expected ? like( $answer->{content}, $expected, $name ) : is( $content, "200 $expected", $name );
    }
}

subtest 'headers that scripts print' => sub {
    my %headers = (
        'Status: 404 Nothing\nContent-type: text/plain\n\n'              => [ 404, 'text/plain' ],
        'Content-Type: text/x\r\nX-Y: z\r\n\r\n'                         => [ 200, 'text/x' ],
        'Location: http://example.org/\n\n'                              => [ 302, undef, 'http://example.org/' ],
        'Location: /there\n\n'                                           => [ 404, undef, undef ],    # the server answers with that path, and nothing is there
        'Status: 301\nLocation: http://example.org/\n\n'                 => [ 301, undef, 'http://example.org/' ],
        'HTTP/1.0 403 Own\nContent-type: text/plain\n\n'                 => [ 403, 'text/plain' ],
    );
    my $number = 0;
    for my $header ( sort keys %headers ) {
        my $name = 'h' . ++$number . '.pl';
        $server->write( "cgi/$name", qq{print "$header"; print "body"} );
        my $answer = $server->get("/cgi/$name");
        my ( $status, $type, $location ) = $headers{$header}->@*;
        is $answer->{status}, $status, $header;
        is $answer->{headers}{'content-type'}, $type, 'type' if $type;
        is $answer->{headers}{location}, $location, 'location' if $location;
    }
};

done_testing;
