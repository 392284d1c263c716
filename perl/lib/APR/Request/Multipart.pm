package APR::Request::Multipart;

use v5.36;
use re 'taint';

use APR::Request::Decode ();
use APR::Request::Spool  ();
use APR::Request::Store  ();
use APR::Request::Value  ();
use Scalar::Util         ();

# multipart/form-data and similar types, parsed in pieces; a part may itself be a multipart.
#
#   preamble ──boundary──▶ line ──line end──▶ header ──blank line──▶ value, upload ──boundary──▶ line
#                            └──── `--` ──▶ over        └─ multipart/… ─▶ nested ──its end──▶ preamble

use constant INCOMPLETE => APR::Request::Decode::INCOMPLETE;
use constant { MAX_DEPTH => 8, MAX_HEADER_BYTES => 16 * 1024, MAX_LINE_BYTES => 1024 };

# Limits for a whole body: storing a header line and beginning a multipart cost far more than their bytes.
use constant { MAX_LINES => 5 * APR::Request::Store::MAX_FIELDS, MAX_NESTED => 1000 };

my %ERROR = %APR::Request::Decode::NUMBERS;

# Returns undef when the type has no boundary. A nested multipart reads from the outer one's buffer.
sub new ( $class, $parser, $type, $level = 1, $name = undef, $buffer = \( my $text = '' ) ) {
    $type =~ s/\A[^;]*;//s or return undef;    ## no critic: a scalar is expected
    my ($boundary) = APR::Request::Decode::attribute( $type, 'boundary' );
    return undef if ( $boundary // '' ) eq '';    ## no critic
    my $self = bless { parser => $parser, boundary => "\r\n--$boundary", level => $level, name => $name, buffer => $buffer, state => 'preamble' }, $class;
    Scalar::Util::weaken( $self->{parser} );    # the parser holds this object
    return $self;
}

# Runs the states. Each state is a method, which returns undef to continue with the next state, or a status.
sub take ( $self, $store, $piece, $is_last ) {
    ${ $self->{buffer} } .= $piece;
    while (1) {
        my $state  = $self->{state};
        my $status = $self->$state( $store, $is_last );
        return $status if defined $status;
    }
}

sub _short ($is_last) { return $is_last ? APR::Request::Decode::EOF : INCOMPLETE }

sub preamble ( $self, $store, $is_last ) {
    my $boundary = substr $self->{boundary}, 2;
    my $at       = index ${ $self->{buffer} }, $boundary;
    if ( $at < 0 ) {
        $self->_drop( length( ${ $self->{buffer} } ) - length($boundary) + 1 );
        return _short($is_last);
    }
    $self->_drop( $at + length $boundary );
    $self->{state} = 'line';
    return;
}

sub _drop ( $self, $count ) { return $count > 0 ? substr ${ $self->{buffer} }, 0, $count, '' : '' }

# Parses the line of a boundary. At the end of the body its line end may be missing.
sub line ( $self, $store, $is_last ) {
    my $at = index ${ $self->{buffer} }, "\r\n";
    return $ERROR{BADDATA} if $at > MAX_LINE_BYTES || $at < 0 && length ${ $self->{buffer} } > MAX_LINE_BYTES;
    if ( $at < 0 ) {
        return INCOMPLETE if !$is_last;
        $self->{state} = 'over';
        return 0;
    }
    my $rest = $self->_drop( $at + 2 );
    $self->{state} = $rest =~ /\A--/ ? 'over' : 'header';
    return $self->{state} eq 'over' ? 0 : undef;
}

sub over ( $self, @ ) { return 0 }

sub header ( $self, $store, $is_last ) {
    my $found = header_lines( $self->{buffer}, $is_last );
    return $found           if !ref $found;
    return $ERROR{OVERLIMIT} if ( $self->{parser}{lines} += @$found ) > MAX_LINES;
    $self->{headers} = $found;
    $self->{state}   = 'body';
    return;
}

# Parses header lines up to a blank one; returns them or a status.
sub header_lines ( $buffer, $is_last ) {
    my $is_there = $$buffer =~ /(?:\A|\n)\r?\n/;
    my $length   = $is_there ? $+[0] : length $$buffer;
    return $ERROR{OVERLIMIT} if $length > MAX_HEADER_BYTES;
    return INCOMPLETE        if !$is_there && !$is_last;
    my $text = substr $$buffer, 0, $length, '';
    my @lines;
    for my $line ( split /\r?\n/, $text =~ s/\r?\n(?=[ \t])//gr ) {
        last if $line eq '';
        my ( $name, $value ) = $line =~ /\A([^:]*):[ \t]*(.*)\z/s or return $ERROR{BADCHAR};
        return $ERROR{BADHEADER} if $name eq '';
        return $ERROR{BADCHAR}   if $name =~ /[^A-Za-z0-9!#\$%&'*+.^_`|~-]/ || $value =~ /[\x00-\x08\x0a-\x1f\x7f]/;
        push @lines, [ $name, $value ];
    }
    return \@lines;
}

# A part without a body may share its header's last line end with the next boundary.
sub body ( $self, $store, $is_last ) {
    my $boundary = substr $self->{boundary}, 2;
    my $start    = substr ${ $self->{buffer} }, 0, length $boundary;
    return INCOMPLETE if !$is_last && length $start < length $boundary && $start eq substr $boundary, 0, length $start;
    substr( ${ $self->{buffer} }, 0, 0 ) = "\r\n" if $start eq $boundary;
    my $status = $self->_begin_part( _value( $self->{headers}, 'content-disposition' ), _value( $self->{headers}, 'content-type' ) );
    return $status || undef;
}

sub _value ( $lines, $wanted ) {
    my ($line) = grep { lc $_->[0] eq $wanted } @$lines;
    return $line ? $line->[1] : undef;
}

sub _begin_part ( $self, $disposition, $type ) {
    return $self->_begin_nested( $disposition, $type ) if defined $type && $type =~ m{\Amultipart/};
    my $kind = $disposition // '';
    my ( $name, $name_status ) = APR::Request::Decode::attribute( $kind, 'name' );
    my ( $file, $file_status ) = APR::Request::Decode::attribute( $kind, 'filename' );
    if ( $kind =~ /\Aform-data/ ) {
        return $ERROR{GENERAL} if !defined $name || !defined $file && $file_status != $ERROR{NOATTR};
        return $self->_begin_upload( $name, $file ) if defined $file;
        @$self{qw(part state)} = ( APR::Request::Value->new( name => $name, headers => $self->{headers} ), 'value' );
        return 0;
    }
    if ( $kind =~ /\Afile/ ) {    # one of several files in a field
        return $ERROR{GENERAL} if !defined $file || !defined $self->{name};
        return $self->_begin_upload( $self->{name}, $file );
    }
    return $self->_begin_upload( _value( $self->{headers}, 'content-id' ) // '', '' );
}

sub _begin_nested ( $self, $disposition, $type ) {
    return $ERROR{OVERLIMIT} if ++$self->{parser}{nested} > MAX_NESTED;
    my ( $name, $status ) = defined $disposition ? APR::Request::Decode::attribute( $disposition, 'name' ) : ( undef, $ERROR{NOATTR} );
    return $ERROR{GENERAL} if $self->{level} >= MAX_DEPTH || !defined $name && $status != $ERROR{NOATTR};
    $name //= _value( $self->{headers}, 'content-id' ) // '';
    $self->{nested} = ref($self)->new( $self->{parser}, $type, $self->{level} + 1, $name, $self->{buffer} ) // return $ERROR{GENERAL};
    $self->{state} = 'nested';
    return 0;
}

sub nested ( $self, $store, $is_last ) {
    my $status = $self->{nested}->take( $store, '', $is_last );
    return $status if $status;
    delete $self->{nested};
    $self->{state} = 'preamble';
    return;
}

sub _begin_upload ( $self, $name, $file ) {
    my $spool = APR::Request::Spool->new( @{ $self->{parser} }{qw(brigade_limit temp_dir)} );
    $self->{part} = APR::Request::Value->new( name => $name, value => $file, headers => $self->{headers}, upload => $spool );
    $self->{state} = 'upload';
    return 0;
}

# Takes the bytes of a part; also returns whether the part ends. Bytes that may begin a boundary are left in the
# buffer.
sub _data ($self) {
    my $at = index ${ $self->{buffer} }, $self->{boundary};
    if ( $at >= 0 ) {
        my $data = $self->_drop($at);
        $self->_drop( length $self->{boundary} );
        $self->{state} = 'line';
        return ( $data, 1 );
    }
    return ( $self->_drop( length( ${ $self->{buffer} } ) - length( $self->{boundary} ) + 1 ), 0 );
}

sub value ( $self, $store, $is_last ) {
    my ( $data, $is_end ) = $self->_data;
    $self->{part}{value} .= $data;
    return _short($is_last) if !$is_end;
    return $self->{parser}->add( $store, delete $self->{part} ) || undef;
}

sub upload ( $self, $store, $is_last ) {
    my ( $data, $is_end ) = $self->_data;
    return _short($is_last) if !$is_end && $is_last;
    my $status = $self->{parser}->add_bytes( $self->{part}, $data, $is_end );
    return $status     if $status;
    return INCOMPLETE  if !$is_end;
    return $self->{parser}->add( $store, delete $self->{part} ) || undef;
}

1;

__END__

=head1 NAME

APR::Request::Multipart - C<multipart/form-data> for L<APR::Request::Parser>

=head1 DESCRIPTION

A part with a C<filename> is an upload. Files in a nested multipart have the outer part's name;
multiparts nest up to eight levels deep. A body that ends before its last boundary is an error
(C<APR_EOF>); complete parts before are in the table. Limits (C<OVERLIMIT>): 16 KB for a part's
header, 50000 lines for all headers, and 1000 nested multiparts.

=cut
