package Apache::Debug;

use v5.36;

use Apache         ();
use Cameleer::HTML qw(escape);

our $Level = 0;

sub import ( $class, %options ) {
    return unless defined $options{level};
    $Level = $Apache::Registry::Debug = $options{level};
    require Carp;
    $SIG{__DIE__} = \&Carp::confess;    ## no critic: this is asked for
    return;
}

# Responds with a page about the request, and returns OK: for `return $r->dump(SERVER_ERROR, $@)` during
# development.
sub dump ( $r, $status, @reasons ) {    ## no critic: the name is the API's
    $r->status($status);
    $r->send_http_header('text/html');
    my $why = join '', map { '<pre>' . escape($_) . "</pre>\n" } @reasons;
    $r->print( "<html><head><title>$status</title></head><body>\n<h1>$status</h1>\n$why",
        sections($r), "</body></html>\n" );
    Apache::log_error("Apache::Debug: $status @reasons");
    return 0;
}
*Apache::dump = \&dump;

sub sections ($r) {
    my $config = $r->dir_config;
    return join '',
      section(
        'Request',
        uri       => $r->uri,
        filename  => $r->filename,
        path_info => $r->path_info,
        method    => $r->method,
        args      => scalar $r->args
      ),
      section( 'Headers in',  $r->headers_in ),
      section( 'Headers out', $r->headers_out ),
      section( 'PerlSetVar',  %$config ),
      section( 'Environment', %ENV );
}

sub section ( $title, %pairs ) {
    my @rows = map { '<tr><td>' . escape($_) . '</td><td>' . escape( $pairs{$_} ) . "</td></tr>\n" } sort keys %pairs;
    return "<h2>$title</h2>\n<table>\n@rows</table>\n";
}

1;

__END__

=head1 NAME

Apache::Debug - an error page with details of the request

=head1 SYNOPSIS

    use Apache::Debug ();
    eval { work(); 1 } or return $r->dump( SERVER_ERROR, 'work failed', $@ );

    use Apache::Debug level => 3;    # in start-up code

=head1 DESCRIPTION

C<< $r->dump(STATUS, REASONS) >> answers with that status and a page of the reasons, the request,
its headers, C<PerlSetVar> values and environment, all of them escaped. It writes status and reasons
to the error log and returns OK. Do not use it on public sites.

C<level> also sets C<$Apache::Registry::Debug>, see L<Apache::Registry>; with it, C<die> shows the
stack.

=cut
