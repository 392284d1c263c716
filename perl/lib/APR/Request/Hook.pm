package APR::Request::Hook;

use v5.36;

use APR::Request::Decode ();

# Hooks are called for each field that a parser has found, and for the bytes of uploads. A hook calls the next
# one itself.

sub _make ( $class, $run, $next = undef ) { return bless { run => $run, next => $next }, $class }

# Returns a status. `bytes` is a reference to a piece of an upload, which the hook may change; undef for other
# fields.
sub run ( $self, $field, $bytes = undef, $is_end = 0 ) { return $self->{run}->( $self, $field, $bytes, $is_end ) }

sub next ( $self, @arguments ) { return $self->{next} ? $self->{next}->run(@arguments) : 0 }    ## no critic: the name is the term

# Appends a hook at the end of the chain.
sub append ( $self, $hook ) {
    my $last = $self;
    $last = $last->{next} while $last->{next};
    $last->{next} = $hook;
    return;
}

sub disable_uploads ( $class, $pool, $next = undef ) {
    return $class->_make( sub ( $self, $field, $bytes, $is_end ) { return $bytes ? $APR::Request::Decode::NUMBERS{GENERAL} : 0 }, $next );
}

# Drops the content of uploads.
sub discard_brigade ( $class, $pool, $next = undef ) {
    return $class->_make(
        sub ( $self, $field, $bytes, $is_end ) {
            my $status = $self->next( $field, $bytes, $is_end );
            $$bytes = '' if $bytes;
            return $status;
        },
        $next
    );
}

# Calls the program's code for each piece, and with undef at the end.
sub calling ( $class, $code, @data ) {
    return $class->_make(
        sub ( $self, $field, $bytes, $is_end ) {
            return $self->next($field) if !$bytes;
            my $object = $field->as('APR::Request::Param');
            for my $piece ( length $$bytes ? $$bytes : (), $is_end ? undef : () ) {
                eval { $code->( $object, $piece, length( $piece // '' ), @data ); 1 } and next;
                warn "Upload hook failed: $@";
                return $APR::Request::Decode::NUMBERS{GENERAL};
            }
            return $self->next( $field, $bytes, $is_end );
        }
    );
}

sub apr_xml_parser ( $class, @ ) { die "APR::Request::Hook->apr_xml_parser is not available: Perl code has no access to its result\n" }

1;

__END__

=head1 NAME

APR::Request::Hook - callbacks during the parsing of a body

=head1 SYNOPSIS

    my $hook   = APR::Request::Hook->discard_brigade($pool);
    my $parser = APR::Request::Parser->multipart( $pool, $allocator, $type, $limit, $folder, $hook );

=head1 DESCRIPTION

C<disable_uploads> makes an upload an error, C<discard_brigade> drops its content. Both take the
next hook as a second argument. C<apr_xml_parser> dies.

=cut
