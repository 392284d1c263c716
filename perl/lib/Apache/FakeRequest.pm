package Apache::FakeRequest;

use v5.36;

use Apache ();

# A fake request, for calling handlers from a command line. Each argument of new becomes a method.
sub new ( $class, %fields ) {
    return bless { status => 200, method => 'GET', protocol => 'HTTP/1.0', headers => {}, out => {}, %fields }, $class;
}

sub print  ( $r, @what )            { return print STDOUT @what }                    ## no critic: the name is the API's
sub printf ( $r, $format, @values ) { return $r->print( sprintf $format, @values ) } ## no critic

sub send_http_header ( $r, $type = $r->{content_type} ) {
    $r->{content_type} = $type if defined $type;
    my %out = ( 'Content-Type' => $r->{content_type} // 'text/html', %{ $r->{out} } );
    return $r->print( ( map { "$_: $out{$_}\n" } sort keys %out ), "\n" );
}

sub header_in  ( $r, $name, @value ) { return field( $r->{headers}, $name, @value ) }
sub header_out ( $r, $name, @value ) { return field( $r->{out},     $name, @value ) }
sub dir_config ( $r, $name )         { return $r->{vars}{$name} }

sub field ( $table, $name, @value ) {
    my $before = $table->{$name};
    $table->{$name} = $value[0] if @value;
    return $before;
}

sub args ($r) {
    return $r->{args} if !wantarray;
    return map { ( split( /=/, $_, 2 ), '' )[ 0, 1 ] } split /[&;]/, $r->{args} // '';
}

sub connection ($r) { return $r->{connection} //= ( ref $r )->new( remote_ip       => '127.0.0.1' ) }
sub server     ($r) { return $r->{server}     //= ( ref $r )->new( server_hostname => 'localhost', port => 80 ) }

sub is_main          { return 1 }
sub is_initial_req   { return 1 }
sub header_only ($r) { return $r->{method} eq 'HEAD' ? 1 : 0 }

sub log_error ( $r, @text ) { return print STDERR @text, "\n" }
sub warn      ( $r, @text ) { return $r->log_error(@text) }       ## no critic: the name is the API's

# CGI.pm and other modules check for an Apache object.
our @ISA = ('Apache');

# Values of methods that a real request implements are stored here, too, so that no code of Apache's runs.
for my $name (
    qw(allow_options as_string auth_name auth_type basic_http_header bytes_sent can_stack_handlers cgi_env cgi_header_out
    cgi_var clear_rgy_endav content content_encoding content_language content_type document_root err_header_out
    err_headers_out exit filename get_basic_auth_pw get_remote_host get_remote_logname get_handlers handler hard_timeout
    headers_in headers_out hostname internal_redirect internal_redirect_handler kill_timeout log_reason lookup_file
    lookup_uri main method method_number module next no_cache note_basic_auth_failure notes path_info perl_hook
    post_connection prev protocol proxyreq push_handlers query_string read read_client_block register_cleanup request
    requires reset_timeout rflush script_name send_cgi_header send_fd sent_header seqno server_root_relative set_handlers
    soft_timeout status status_line subprocess_env the_request translate_name uri user write_client last pnotes log
    custom_response)
    )
{
    no strict 'refs';
    *$name = sub ( $r, @value ) { return field( $r, $name, @value ) };
}

our $AUTOLOAD;

sub AUTOLOAD ( $r, @value ) {
    my $name = $AUTOLOAD =~ s/.*:://r;
    return if $name eq 'DESTROY';
    return field( $r, $name, @value );
}

1;

__END__

=head1 NAME

Apache::FakeRequest - calls a handler without a server

=head1 SYNOPSIS

    use Apache::FakeRequest ();
    my $r = Apache::FakeRequest->new(
        uri     => '/news',
        args    => 'id=7',
        vars    => { Name => 'value' },
        headers => { Host => 'localhost' },
    );
    My::Handler::handler($r);

=head1 DESCRIPTION

C<print> writes to STDOUT, the error log is STDERR. C<dir_config> reads C<vars>, C<header_in> reads
C<headers>. All other methods get and set a value of their name.

=cut
