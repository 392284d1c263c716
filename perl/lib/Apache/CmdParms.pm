package Apache::CmdParms;

use v5.36;

our $VERSION = '1.31';

sub info     ($self) { return $self->{info} }
sub path     ($self) { return $self->{path} }
sub server   ($self) { return $self->{server} }
sub override ($self) { return $self->{override} }
sub limited  ($self) { return $self->{limited} }
sub cmd      ($self) { return bless $self->{cmd}, 'Apache::Command' }

# Stores the next line of the section, without its end, in the given variable; returns false behind the last
# line.
sub getline {
    my ( $self, undef ) = @_;
    my $line = $self->_line;
    $_[1] = $line if @_ > 1;
    return defined $line ? 1 : 0;
}

# The rest of the line that GETC has begun, otherwise the next line.
sub _line ($self) {
    my $rest = delete $self->{rest};
    return length( $rest // '' ) ? $rest =~ s/\n\z//r : shift @{ $self->{lines} };
}

sub GETC ($self) {
    $self->{rest} = shift( @{ $self->{lines} } ) // return undef unless length( $self->{rest} // '' );    ## no critic
    $self->{rest} .= "\n" if $self->{rest} !~ /\n\z/;
    return substr $self->{rest}, 0, 1, '';
}

# The handle that a sub with the prototype ($$$;*) gets.
sub TIEHANDLE ( $class, $self ) { return $self }

sub READLINE ($self) {
    my $line = $self->_line;
    return defined $line ? "$line\n" : undef if !wantarray;
    return map { "$_\n" } grep { defined } $line, splice @{ $self->{lines} };
}

package Apache::Command;

sub name         ($self) { return $self->{name} }
sub errmsg       ($self) { return $self->{errmsg} }
sub req_override ($self) { return $self->{req_override} }
sub args_how     ($self) { return $self->{args_how} }

1;

__END__

=head1 NAME

Apache::CmdParms - the context of a Perl module's directive

=head1 SYNOPSIS

    sub MyDirective ($$$) {
        my ( $config, $parms, $value ) = @_;
        die "not in " . $parms->path if $value eq 'pink';
        $config->{MyDirective} = $value;
    }

=head1 METHODS

C<info> (cmd_data of the table), C<path> of the section, C<server>, C<override>, C<limited> (always
-1), C<cmd> (C<name>, C<errmsg>, C<req_override>, C<args_how>). In a section with RAW_ARGS,
C<getline($line)> and C<GETC> read its lines; the last line is its end tag.

=cut
