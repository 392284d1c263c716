package Apache::testold;

use v5.36;
use Exporter 'import';

use Apache::test ();

our $VERSION   = $Apache::test::VERSION;
our @EXPORT    = @Apache::test::EXPORT;
our @EXPORT_OK = @EXPORT;

{
    no strict 'refs';
    *{$_} = Apache::test->can($_) for @EXPORT;
}

1;

__END__

=head1 NAME

Apache::testold - an older name of Apache::test

=head1 SYNOPSIS

    use Apache::testold;
    test 1, fetch('/perl/hello.pl') =~ /hello/;

=head1 DESCRIPTION

An alias of L<Apache::test>.

=cut
