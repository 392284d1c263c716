package Apache::test;

use v5.36;
use Exporter 'import';

our $VERSION   = '1.31';
our @EXPORT    = qw(test fetch simple_fetch have_module skip_test);
our @EXPORT_OK = @EXPORT;

# The address where a distribution's test scripts find their server.
$net::httpserver //= $ENV{APACHE_TEST_SERVER} // 'localhost:8529';

# Removes the class: callers use functions or methods.
sub arguments { shift if @_ && ( $_[0] // q() ) =~ /\AApache::test(?:old)?\z/; return @_ }

# Prints one line of a test's output; in the server, to the client.
sub test {
    my ( $number, $passed ) = arguments(@_);
    my $line = ( $passed ? '' : 'not ' ) . "ok $number\n";
    return $ENV{MOD_PERL} ? Apache->request->print($line) : print $line;
}

# The content of a path of the server, or of a URL; the first argument may be a user agent.
sub fetch {
    my ( $agent, $target ) = arguments(@_);
    ( $agent, $target ) = ( undef, $agent ) unless defined $target;
    return response($target)->{content} unless $agent;
    require HTTP::Request;
    return $agent->request( HTTP::Request->new( GET => url($target) ) )->content;
}

sub simple_fetch {
    my ($target) = arguments(@_);
    return response($target)->{success};
}

sub response ($target) {
    require HTTP::Tiny;
    return HTTP::Tiny->new( timeout => 30 )->get( url($target) );
}

sub url ($target) { return $target =~ m{\Ahttps?://} ? $target : "http://$net::httpserver$target" }

# Whether the module, in at least that version, can be loaded.
sub have_module {
    my ( $module, $version ) = arguments(@_);
    my $file = $module =~ s{::}{/}gr . '.pm';
    return eval { require $file; $module->VERSION($version) if defined $version; 1 } || 0;
}

sub skip_test {
    $ENV{MOD_PERL} or print("1..0\n"), exit 0;
    Apache->request->print("1..0\n");
    return Apache::exit();
}

1;

__END__

=head1 NAME

Apache::test - functions for test scripts of mod_perl 1 modules

=head1 SYNOPSIS

    use Apache::test;
    skip_test() unless have_module( 'CGI', '3.0' );
    print "1..2\n";
    test 1, simple_fetch('/perl/hello.pl');
    test 2, fetch('/perl/hello.pl?name=ana') =~ /ana/;

=head1 DESCRIPTION

C<$net::httpserver> is the server's address: by default the value of the variable
C<APACHE_TEST_SERVER>, or C<localhost:8529>. The server must run: C<cameleer serve -f t/httpd.conf>
starts one. mod_perl's own functions that find an httpd and write its configuration are not
available.

=head1 FUNCTIONS

All functions are exported, and can be called as methods.

=over

=item C<test($number, $passed)> prints C<ok 1> or C<not ok 1>; in a handler, to the client.

=item C<fetch($target)>, C<fetch($agent, $target)> returns the contents of a path or URL.

=item C<simple_fetch($target)> returns whether the request was successful.

=item C<have_module($name, $version)> returns whether the module can be loaded.

=item C<skip_test> prints C<1..0> and ends the script or request.

=back

=cut
