package Apache2::RequestRec;

use v5.36;

use Cameleer::ModPerl2 ();

Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__, qw(the_request protocol method method_number uri unparsed_uri filename path_info
    hostname content_type content_encoding status status_line user proxyreq bytes_sent request_time allowed
    connection server main prev next) );

# Fields of httpd's request_rec that only Perl code uses.
Cameleer::ModPerl2::fields( __PACKAGE__, assbackwards => 0, chunked => 0, no_local_copy => 0, range => undef, used_path_info => 2 );

# perl-script and modperl provide different environments, so a running handler cannot switch between them.
sub handler ( $r, @new ) {
    my $before = Apache::handler($r);
    if ( @new && ( Apache::current_callback($r) // '' ) eq 'PerlResponseHandler' && defined $before && $before ne $new[0] ) {
        Cameleer::ModPerl2::croak("Can't switch from '$before' to '$new[0]' response handler")
            if $before =~ /\A(?:modperl|perl-script)\z/ && $new[0] =~ /\A(?:modperl|perl-script)\z/;
    }
    Apache::handler( $r, @new ) if @new;
    return $before;
}

*ap_auth_type = \&Apache::Connection::auth_type;
*args         = \&Apache::query_string;

Cameleer::ModPerl2::lend( 'Cameleer::ModPerl2::RequestRec', __PACKAGE__, qw(headers_in headers_out err_headers_out notes clength) );

# Without arguments, in void context, adds the variables of CGI to %ENV.
sub subprocess_env {
    my ( $r, @words ) = @_;
    return Apache::env_table( $r, @words ) if @words && !ref $words[0];
    if ( !@words && !defined wantarray ) {
        Apache::_add_cgi_variables($r);
        my %added = Apache::cgi_env($r);
        @ENV{ keys %added } = values %added;
        return;
    }
    my $table = Apache::env_table($r);
    Cameleer::ModPerl2::replace( $table, $words[0] ) if @words;
    return $table;
}

sub content_languages ( $r, @new ) {
    Cameleer::ModPerl2::croak('Not an array reference') if @new && ref $new[0] ne 'ARRAY';
    my $before = $r->headers_out->get('Content-Language');
    $r->headers_out->set( 'Content-Language' => join ', ', @{ $new[0] } ) if @new;
    return defined $before ? [ split /,\s*/, $before ] : undef;
}

sub header_only ( $r, @new ) {
    my $fields = Cameleer::ModPerl2::of_request($r);
    my $before = $fields->{header_only} // Apache::header_only($r);
    $fields->{header_only} = $new[0] if @new;
    return $before;
}

# 1001 is HTTP/1.1.
sub proto_num ( $r, @new ) {
    my $fields = Cameleer::ModPerl2::of_request($r);
    my ( $major, $minor ) = $r->protocol =~ m{\AHTTP/(\d+)(?:\.(\d+))?};
    my $before = $fields->{proto_num} // ( ( $major // 0 ) * 1000 + ( $minor // 0 ) );
    $fields->{proto_num} = $new[0] if @new;
    return $before;
}

# The attributes of the request's file, unless a handler has set others.
sub finfo ( $r, @new ) {
    my $fields = Cameleer::ModPerl2::of_request($r);
    my $before = $fields->{finfo} // _finfo_of_file($r);
    $fields->{finfo} = $new[0] if @new;
    return $before;
}

# Callers of Apache2::SubRequest test for FILETYPE_NOFILE to learn whether a file exists.
sub _finfo_of_file ($r) {
    require APR::Finfo;
    require APR::Const;
    APR::Const->import( -compile => 'FINFO_NORM' );
    my $name = Apache::has_file($r) ? $r->filename : undef;
    return APR::Finfo->none( $r->pool ) unless defined $name && -e $name;
    return APR::Finfo::stat( $name, APR::Const::FINFO_NORM(), $r->pool );
}

# Makes another object for the same request.
sub new ( $class, $c, @ ) { return bless \( my $number = $c->number ), ref $class || $class }

# When the response was last changed, in seconds since 1970.
sub mtime ( $r, @new ) {
    my $fields = Cameleer::ModPerl2::of_request($r);
    my $before = $fields->{mtime} // 0;
    $fields->{mtime} = $new[0] if @new;
    return $before;
}

# The pool of the request ends with it.
sub pool ($r) {
    require Cameleer::Pools;
    return Cameleer::Pools::of_request($r);
}

sub per_dir_config ($r) { return Cameleer::ModPerl2::of_request($r)->{per_dir_config} //= bless \( my $section = $r->number ), 'Apache2::ConfVector' }
sub request_config ($r) { return Cameleer::ModPerl2::of_request($r)->{request_config} //= bless \( my $section = $r->number ), 'Apache2::ConfVector' }

sub useragent_ip   ( $r, @new ) { return $r->connection->client_ip(@new) }
sub useragent_addr ( $r, @new ) { return $r->connection->client_addr(@new) }

for my $chain (qw(input output proto_input proto_output)) {
    no strict 'refs';
    *{"${chain}_filters"} = sub ( $r, @new ) {
        require Apache2::Filter;
        return Apache2::Filter::of_request( $r, $chain, @new );
    };
}

1;

__END__

=head1 NAME

Apache2::RequestRec - the request record of mod_perl 2

=head1 SYNOPSIS

    use Apache2::RequestRec ();
    use Apache2::RequestIO ();

    sub handler {
        my $r = shift;
        $r->content_type('text/plain');
        $r->headers_out->set( 'X-Camel' => 'two humps' );
        $r->print( 'Hello, ', $r->args // 'you', "\n" );
        return Apache2::Const::OK;
    }

=head1 DESCRIPTION

Names, arguments and results are those of mod_perl 2.0.12:

C<allowed ap_auth_type args assbackwards bytes_sent chunked clength connection content_encoding content_languages content_type
err_headers_out filename finfo handler header_only headers_in headers_out hostname main method method_number mtime next no_local_copy
notes path_info per_dir_config pool prev proto_num protocol proxyreq range request_config request_time server status status_line
subprocess_env the_request unparsed_uri uri user useragent_addr useragent_ip>, and the lists of filters C<input_filters output_filters
proto_input_filters proto_output_filters>.

A setter returns the old value. Tables are L<APR::Table>s.

=cut
