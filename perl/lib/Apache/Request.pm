package Apache::Request;

use v5.36;
use Cameleer::XS ();

use Apache            ();
use Apache::Constants qw(OK DECLINED FORBIDDEN SERVER_ERROR M_POST HTTP_REQUEST_ENTITY_TOO_LARGE HTTP_BAD_REQUEST);
use Apache::Upload    ();

our @ISA     = ('Apache');
our $VERSION = '1.34';

Cameleer::XS::load(__PACKAGE__);

my %OPTIONS = map { $_ => 1 } qw(POST_MAX DISABLE_UPLOADS TEMP_DIR HOOK_DATA UPLOAD_HOOK);

# Return values of the body parser, as in apache.h.
my ( $PART, $DATA, $PART_END, $LAST, $BAD ) = 1 .. 5;

sub new ( $class, $r, %options ) {
    my $self = bless { _r => $r, uploads => [] }, ref $class || $class;
    for my $name ( keys %options ) {
        $OPTIONS{ uc $name } or Apache::_croak("Apache::Request: unknown attribute: `$name'");
        $self->{ uc $name } = $options{$name};
    }
    return $self;
}

# The only object of this request: the body can be read only once.
sub instance ( $class, $r, @options ) {
    return $r->pnotes('apreq') // do {
        my $self = $class->new( $r, @options );
        $r->pnotes( apreq => $self );
        $self;
    };
}

# Returns OK, or the error status; notes('error-notes') has the reason.
sub parse ($self) {
    $self = innermost($self);
    return $self->{status} if exists $self->{status};
    my $r = $self->{_r};
    $self->{parms} = Apache::Table->new($r);
    $self->{status} = $self->_add( $r->query_string );
    $self->{in_query} = $self->{count};
    $self->{status} ||= $self->_body if $r->method_number == M_POST;
    return $self->{status};
}

# Parses query strings and short bodies.
sub _add ( $self, $pairs ) {
    $self->{count} = parse_form( $self->{parms}, $pairs // '' );
    return $self->{count} < 0 ? $self->_refuse( HTTP_REQUEST_ENTITY_TOO_LARGE, 'too many parameters' ) : OK;
}

sub _body ($self) {
    my $r    = $self->{_r};
    my $type = $r->header_in('Content-Type') // '';
    my ( $length, $max ) = ( $r->body_length, $self->{POST_MAX} // -1 );
    return $self->_refuse( HTTP_REQUEST_ENTITY_TOO_LARGE, "entity too large ($length, max=$max)" )
        if $max > 0 && $length > $max;
    return $self->_multipart($type) if $type =~ m{\Amultipart/form-data}i;
    return $self->_refuse( SERVER_ERROR, "unknown content-type: `$type'" )
        if $type !~ m{\Aapplication/x-www-form-urlencoded}i;
    $r->read( my $body, $length );
    return $self->_add( $body // '' );
}

sub _multipart ( $self, $type ) {
    my $r = $self->{_r};
    multipart_begin( $r, $type ) or return $self->_refuse( DECLINED, "no boundary in content-type: `$type'" );
    while ( $r->read( my $piece, 65536 ) ) {
        multipart_feed( $r, $piece );
        while ( my @event = multipart_next($r) ) {
            my $status = $self->_take(@event);
            return $status if $status != OK;
        }
    }
    return OK if $self->{is_whole};
    return $self->_refuse( HTTP_BAD_REQUEST, 'the multipart body ends in the middle' );
}

sub _take ( $self, $kind, $text, $filename, $headers ) {
    if    ( $kind == $DATA )     { return $self->_data($text) }
    elsif ( $kind == $PART )     { return $self->_begin( $text, $filename, $headers ) }
    elsif ( $kind == $PART_END ) { $self->_end }
    elsif ( $kind == $LAST )     { $self->{is_whole} = 1 }
    elsif ( $kind == $BAD )      { return $self->_refuse( HTTP_BAD_REQUEST, $text ) }
    return OK;
}

sub _begin ( $self, $name, $filename, $headers ) {
    $self->{part} = { name => $name, data => '' };
    return OK unless defined $filename;
    return $self->_refuse( FORBIDDEN, 'file upload forbidden' ) if $self->{DISABLE_UPLOADS};
    $self->{parms}->add( $name => $filename );
    # An empty file field of a form is a part with an empty file name.
    $self->{part} = $filename eq '' ? {} : $self->_upload( $name, $filename, $headers );
    return OK;
}

sub _upload ( $self, $name, $filename, $headers ) {
    my $upload = Apache::Upload->begin( $name, $filename, $headers, $self->{TEMP_DIR} );
    my $list   = $self->{uploads};
    $list->[-1]{next} = $upload if @$list;
    push @$list, $upload;
    return { upload => $upload };
}

sub _data ( $self, $data ) {
    my $part   = $self->{part};
    my $upload = $part->{upload};
    if ( !$upload ) {
        $part->{data} .= $data if defined $part->{data};
        return OK;
    }
    if ( my $hook = $self->{UPLOAD_HOOK} ) {
        eval { $hook->( $upload, $data, length $data, $self->{HOOK_DATA} ); 1 }
            or return $self->_refuse( SERVER_ERROR, "UPLOAD_HOOK: $@" );
    }
    eval { $upload->append($data); 1 } or return $self->_refuse( SERVER_ERROR, $@ );
    return OK;
}

sub _end ($self) {
    my $part = delete $self->{part};
    $self->{parms}->add( @$part{qw(name data)} ) if defined $part->{data};
    return;
}

sub _refuse ( $self, $status, $reason ) {
    my $r = $self->{_r};
    $r->notes( 'error-notes' => "[libapreq] $reason" );
    $r->log_error("[libapreq] $reason");
    return $status;
}

sub parms ( $self, @table ) {
    $self = innermost($self);
    if (@table) { @$self{qw(parms status)} = ( $table[0], OK ) }
    else        { $self->parse }
    return $self->{parms};
}

# The parameters of the query, and those of the body.
sub query_params ($self) { return _copy( $self, sub ( $at, $in_query ) { $at <= $in_query } ) }
sub post_params  ($self) { return _copy( $self, sub ( $at, $in_query ) { $at > $in_query } ) }

sub _copy ( $self, $is_wanted ) {
    my $table = Apache::Table->new( $self->{_r} );
    my $at    = 0;
    $self = innermost($self);
    $self->parms->do( sub ( $name, $value ) { $table->add( $name => $value ) if $is_wanted->( ++$at, $self->{in_query} ); 1 } );
    return $table;
}

sub upload ( $self, @name ) {
    $self = innermost($self);
    return @{ $self->{uploads} } = @name if @name && ref $name[0];
    $self->parse;
    my @uploads = grep { !@name || $_->name eq $name[0] } @{ $self->{uploads} };
    return wantarray ? @uploads : $uploads[0];
}

# HTTP's date for `+3d`, `-1h` or `now`; other texts are returned unchanged.
sub expires ( $self, $text ) {
    require Apache::Cookie;
    return Apache::Cookie::date( $text, ' ' );
}

1;

__END__

=head1 NAME

Apache::Request - form parameters and uploads (libapreq 1)

=head1 SYNOPSIS

    use Apache::Request ();

    my $q      = Apache::Request->new($r, POST_MAX => 1_000_000);    # or ->instance($r)
    my $status = $q->parse;                                          # optional: OK, or a status to return
    return $status if $status;

    my $name   = $q->param('name');
    my @boxes  = $q->param('box');
    my @names  = $q->param;                                          # each once, in order
    my $table  = $q->parms;                                          # an Apache::Table

    for my $upload ( $q->upload ) {
        my $handle = $upload->fh;
        ...
    }
    $q->send_http_header('text/plain');                              # isa Apache

=head1 DESCRIPTION

The query string is always read, the body of a POST if it is C<application/x-www-form-urlencoded> or
C<multipart/form-data>; both when a parameter is first used. Names ignore case. Values are bytes.

=over

=item new(R, OPTIONS), instance(R, OPTIONS)

Options: C<POST_MAX> bytes (default: limited by C<LimitRequestBody> only), C<DISABLE_UPLOADS>,
C<TEMP_DIR> (default C<$ENV{TMPDIR}> or F</tmp>), C<UPLOAD_HOOK>, called with (upload, bytes, their
length, C<HOOK_DATA>) for each piece of a file. C<instance> returns the same object during the whole
request.

=item parse

C<OK>; 413 above POST_MAX or with more than 10000 parameters; 403 for an upload while uploads are
disabled; 400 for an invalid body; C<DECLINED> for a multipart body whose type has no boundary; 500
for another type. The reason is in C<< $r->notes('error-notes') >> and in the error log.

=item param(NAME, VALUE)

Scalar context: the first value or undef. List context: all values. A VALUE, or a reference to an
array of values, replaces them. Without a NAME: the names, or the table in scalar context.

=item parms(TABLE), query_params, post_params

All parameters, or copies of some. A TABLE replaces them.

=item upload(NAME)

The L<Apache::Upload> objects, of one field or all; the first in scalar context.

=item expires(TEXT)

C<+10m>, C<-1h>, C<+3M>, C<now> as an HTTP date.

=back

=cut
