package Apache::Leak;

use v5.36;
use Exporter 'import';
use Cameleer::XS ();

use Apache ();

our @EXPORT    = qw(leak_test);
our @EXPORT_OK = qw(leak_test NoteSV CheckSV);

Cameleer::XS::load(__PACKAGE__);

# Runs `$code` once to let it fill what it keeps, then again: values that are more afterwards were lost.
sub leak_test : prototype(&) ($code) {
    $code->();
    my ( $before, $leaked ) = ( 0, 0 );
    NoteSV($before);
    $code->();
    $leaked = CheckSV($before);
    return $leaked;
}

# How many values there are more than at NoteSV; says so in the error log.
sub CheckSV ($before) {
    my $more = count() - $before;
    my ( undef, $file, $line ) = caller 1;
    Apache::warn(
        "Apache::Leak: $more values were made and not freed at " . ( $file // '?' ) . ' line ' . ( $line // '?' ) )
      if $more > 0;
    return $more > 0 ? $more : 0;
}

1;

__END__

=head1 NAME

Apache::Leak - finds code that loses memory

=head1 SYNOPSIS

    use Apache::Leak;
    my $leaked = leak_test { My::Module->new->work };

    use Apache::Leak qw(NoteSV CheckSV);
    NoteSV( my $before );
    work();
    CheckSV($before);

=head1 DESCRIPTION

Counts perl's values before and after. C<leak_test> runs the code twice and looks at the second run. What was not
freed is a line in the error log, and its number is returned. C<NoteSV(COUNT)> sets COUNT to the number of values,
C<CheckSV(COUNT)> returns by how many there are more now, 0 for none.

C<Apache::Leak::arenas> is the number of the pieces of memory from which perl takes its values: it never shrinks, and
does not grow in a program that loses nothing.

=head1 DIFFERENCES

Values are counted, not dumped: L<Apache::Peek> and Devel::Leak do that.

=cut
