package Apache::Opcode;

use v5.36;

use Opcode ();

# Forbids these operators or tags to code that is compiled later in this process and its workers.
sub deny ( $class, @operators ) {
    Opcode::opmask_add( Opcode::opset(@operators) );
    return;
}

# Arguments for `deny`: perl's names of operators, or tags such as `:subprocess`.
sub names ( $class, @tags ) { return Opcode::opset_to_ops( Opcode::opset( @tags ? @tags : ':default' ) ) }

# The operators that are denied so far.
sub denied ($class) { return Opcode::opset_to_ops( Opcode::opmask() ) }

1;

__END__

=head1 NAME

Apache::Opcode - forbids operators to code that is compiled later

=head1 SYNOPSIS

    # last thing in startup.pl
    use Apache::Opcode ();
    Apache::Opcode->deny(qw(system exec backtick fork));
    Apache::Opcode->deny(':subprocess');

=head1 DESCRIPTION

A script that uses such an operator does not compile: the client gets 500, and perl's message is in
the error log. Code compiled before is not affected. Names are those of L<Opcode>; an unknown one
dies. Denied operators cannot be allowed again.

C<< Apache::Opcode->names(TAGS) >> lists the operators of tags, by default of C<:default>; C<<
Apache::Opcode->denied >> lists the denied ones.

=cut
