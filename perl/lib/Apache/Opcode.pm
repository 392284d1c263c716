package Apache::Opcode;

use v5.36;

use Opcode ();

# From here on code that is compiled in this process and its workers may not use these operators or tags.
sub deny ( $class, @operators ) {
    Opcode::opmask_add( Opcode::opset(@operators) );
    return;
}

# What `deny` takes: perl's own names of operators, or tags such as `:subprocess`.
sub names ( $class, @tags ) { return Opcode::opset_to_ops( Opcode::opset( @tags ? @tags : ':default' ) ) }

# What is denied so far.
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

A script that uses such an operator does not compile: 500, with perl's message in the error log. Code that was
compiled before goes on. Names are those of L<Opcode>; an unknown one dies. What is denied stays denied.

C<< Apache::Opcode->names(TAGS) >> lists the operators of tags, by default of C<:default>; C<< Apache::Opcode->denied >>
those that are forbidden.

=cut
