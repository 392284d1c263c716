package Apache::Constants;

use v5.36;
use Exporter 'import';

# A group of constants, `NAME number`; the tag exports these names.
my %GROUPS = (
    common => '
        OK 0 DECLINED -1 DONE -2 NOT_FOUND 404 FORBIDDEN 403 AUTH_REQUIRED 401 SERVER_ERROR 500',
    response => '
        DOCUMENT_FOLLOWS 200 MOVED 301 REDIRECT 302 USE_LOCAL_COPY 304 BAD_REQUEST 400 BAD_GATEWAY 502
        RESPONSE_CODES 55 NOT_IMPLEMENTED 501 NOT_AUTHORITATIVE -1 CONTINUE -1',
    methods => '
        M_GET 0 M_PUT 1 M_POST 2 M_DELETE 3 M_CONNECT 4 M_OPTIONS 5 M_TRACE 6 M_PATCH 7 M_PROPFIND 8 M_PROPPATCH 9
        M_MKCOL 10 M_COPY 11 M_MOVE 12 M_LOCK 13 M_UNLOCK 14 M_INVALID 15 METHODS 16',
    options => '
        OPT_NONE 0 OPT_INDEXES 1 OPT_INCLUDES 2 OPT_SYM_LINKS 4 OPT_EXECCGI 8 OPT_UNSET 16 OPT_INCNOEXEC 32
        OPT_SYM_OWNER 64 OPT_MULTI 128 OPT_ALL 15',
    satisfy => '
        SATISFY_ALL 0 SATISFY_ANY 1 SATISFY_NOSPEC 2',
    remotehost => '
        REMOTE_HOST 0 REMOTE_NAME 1 REMOTE_NOLOOKUP 2 REMOTE_DOUBLE_REV 3',
    http => '
        HTTP_CONTINUE 100 HTTP_SWITCHING_PROTOCOLS 101 HTTP_PROCESSING 102 HTTP_OK 200 HTTP_CREATED 201
        HTTP_ACCEPTED 202 HTTP_NON_AUTHORITATIVE 203 HTTP_NO_CONTENT 204 HTTP_RESET_CONTENT 205
        HTTP_PARTIAL_CONTENT 206 HTTP_MULTI_STATUS 207 HTTP_MULTIPLE_CHOICES 300 HTTP_MOVED_PERMANENTLY 301
        HTTP_MOVED_TEMPORARILY 302 HTTP_SEE_OTHER 303 HTTP_NOT_MODIFIED 304 HTTP_USE_PROXY 305
        HTTP_TEMPORARY_REDIRECT 307 HTTP_BAD_REQUEST 400 HTTP_UNAUTHORIZED 401 HTTP_PAYMENT_REQUIRED 402
        HTTP_FORBIDDEN 403 HTTP_NOT_FOUND 404 HTTP_METHOD_NOT_ALLOWED 405 HTTP_NOT_ACCEPTABLE 406
        HTTP_PROXY_AUTHENTICATION_REQUIRED 407 HTTP_REQUEST_TIME_OUT 408 HTTP_CONFLICT 409 HTTP_GONE 410
        HTTP_LENGTH_REQUIRED 411 HTTP_PRECONDITION_FAILED 412 HTTP_REQUEST_ENTITY_TOO_LARGE 413
        HTTP_REQUEST_URI_TOO_LARGE 414 HTTP_UNSUPPORTED_MEDIA_TYPE 415 HTTP_RANGE_NOT_SATISFIABLE 416
        HTTP_EXPECTATION_FAILED 417 HTTP_UNPROCESSABLE_ENTITY 422 HTTP_LOCKED 423 HTTP_FAILED_DEPENDENCY 424
        HTTP_INTERNAL_SERVER_ERROR 500 HTTP_NOT_IMPLEMENTED 501 HTTP_BAD_GATEWAY 502 HTTP_SERVICE_UNAVAILABLE 503
        HTTP_GATEWAY_TIME_OUT 504 HTTP_VERSION_NOT_SUPPORTED 505 HTTP_VARIANT_ALSO_VARIES 506
        HTTP_INSUFFICIENT_STORAGE 507 HTTP_NOT_EXTENDED 510',
    server => '
        MODULE_MAGIC_NUMBER 19990320',
    config => '
        DECLINE_CMD \x07\x08',
    types => '
        DIR_MAGIC_TYPE httpd/unix-directory',
    override => '
        OR_NONE 0 OR_LIMIT 1 OR_OPTIONS 2 OR_FILEINFO 4 OR_AUTHCFG 8 OR_INDEXES 16 OR_UNSET 32 OR_ALL 31
        ACCESS_CONF 64 RSRC_CONF 128',
    args_how => '
        RAW_ARGS 0 TAKE1 1 TAKE2 2 ITERATE 3 ITERATE2 4 FLAG 5 NO_ARGS 6 TAKE12 7 TAKE3 8 TAKE23 9 TAKE123 10
        TAKE13 11',
    # Constants without a tag.
    other => '
        SERVICE_UNAVAILABLE 503 REQUEST_NO_BODY 0 REQUEST_CHUNKED_ERROR 1 REQUEST_CHUNKED_DECHUNK 2
        REQUEST_CHUNKED_PASS 3 HUGE_STRING_LEN 8192 MAX_STRING_LEN 8192 MAX_HEADERS 200 DYNAMIC_MODULE_LIMIT 64',
);

our ( @EXPORT, @EXPORT_OK, %EXPORT_TAGS );

for my $tag ( keys %GROUPS ) {
    my @words = split ' ', $GROUPS{$tag};
    while ( my ( $name, $text ) = splice @words, 0, 2 ) {
        # Numbers are stored as numbers: `|` of two texts would combine their characters.
        my $value = $text =~ /\A-?\d+\z/ ? 0 + $text : $text =~ s/\\x(..)/chr hex $1/ger;
        no strict 'refs';
        # An empty prototype instead of a signature: perl inlines the sub, and a call with $r is allowed
        # (`PerlHandler …::OK`).
        no feature 'signatures';
        *$name = sub () { $value };
        push @EXPORT_OK, $name;
        push @{ $EXPORT_TAGS{$tag} }, $name;
    }
}

sub SERVER_VERSION { require Apache; return Apache->server->server_software // 'Cameleer' }
sub SERVER_BUILT   { return 'unknown' }
push @{ $EXPORT_TAGS{server} }, qw(SERVER_VERSION SERVER_BUILT);
push @EXPORT_OK, qw(SERVER_VERSION SERVER_BUILT);

delete $EXPORT_TAGS{other};
@EXPORT = @{ $EXPORT_TAGS{common} };
push @{ $EXPORT_TAGS{response} }, @EXPORT;
$EXPORT_TAGS{response_codes} = $EXPORT_TAGS{response};
$EXPORT_TAGS{all}            = \@EXPORT_OK;

# Makes names outside of tags importable.
sub export ( $class, @names ) {
    my %known = map { $_ => 1 } @EXPORT_OK;
    push @EXPORT_OK, grep { !$known{$_}++ } @names;
    %Apache::Constants::EXPORT = ();    # Exporter's cache of importable names
    return;
}

# Apache::Constants->name(404) is NOT_FOUND: the most common of several names for a number.
sub name {
    my $number = $_[-1];
    for my $name ( map { @{ $EXPORT_TAGS{$_} } } qw(common response http) ) {
        return $name if __PACKAGE__->can($name)->() == $number;
    }
    return;
}

1;

__END__

=head1 NAME

Apache::Constants - return values of handlers, and other constants of httpd 1.3

=head1 SYNOPSIS

    use Apache::Constants qw(:common REDIRECT);

    return NOT_FOUND unless -e $r->filename;
    return OK;

=head1 DESCRIPTION

Tags: C<:common> (also the default), C<:response>, C<:http>, C<:methods>, C<:options>, C<:satisfy>, C<:remotehost>,
C<:server>, C<:config>, C<:types>, C<:override>, C<:args_how>. C<OK> may itself be a handler:
C<PerlHandler Apache::Constants::OK>.

C<name(NUMBER)> is the name of a status. C<export(NAMES)> makes further subs of this package
importable.

=cut
