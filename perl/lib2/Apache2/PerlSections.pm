package Apache2::PerlSections;

use v5.36;

use Apache::PerlSections ();

our $VERSION = '2.00';

# With $Save what the sections said stays, and dump shows it.
our ( $Save, $Server );

sub server { return $Server }

sub dump ($class) {    ## no critic: the name is the API's
    return Apache::PerlSections->dump;
}

sub store ( $class, $file ) { return Apache::PerlSections->store($file) }

1;

__END__

=head1 NAME

Apache2::PerlSections - what the <Perl> sections said, as Perl code

=head1 SYNOPSIS

    <Perl>
    $Apache2::PerlSections::Save = 1;
    $DocumentRoot = '/srv/site';
    </Perl>

    # later
    print Apache2::PerlSections->dump;
    Apache2::PerlSections->store('logs/sections.pl');

=cut
