package Apache::PerlSections;

use v5.36;

our $VERSION = '1.31';

my $PACKAGE = 'Apache::ReadConfig';

sub dump ($) {    ## no critic: the name is the API's
    no strict 'refs';
    my $stash = \%{"${PACKAGE}::"};
    my @globs = map { [ $_ => *{ $stash->{$_} } ] } grep { !/::\z/ && ref \$stash->{$_} eq 'GLOB' } sort keys %$stash;
    my $text  = "package $PACKAGE;\n#scalars:\n";
    for my $named (@globs) {
        my ( $name, $glob ) = @$named;
        $text .= assignment( '$', $name, ${ *$glob{SCALAR} } ) if defined ${ *$glob{SCALAR} };
    }
    $text .= "#arrays:\n";
    for my $named (@globs) {
        my ( $name, $glob ) = @$named;
        $text .= assignment( '*', $name, *$glob{ARRAY} ) if *$glob{ARRAY} && @{ *$glob{ARRAY} };
    }
    $text .= "#hashes:\n";
    for my $named (@globs) {
        my ( $name, $glob ) = @$named;
        $text .= assignment( '*', $name, *$glob{HASH} ) if *$glob{HASH} && %{ *$glob{HASH} };
    }
    return $text . "1;\n__END__\n";
}

sub assignment ( $sigil, $name, $value ) {
    require Data::Dumper;
    return Data::Dumper->new( [$value], ["$sigil$name"] )->Sortkeys(1)->Indent(1)->Quotekeys(1)->Dump . "\n";
}

sub store ( $class, $file ) {
    require Apache;
    $file = Apache->server_root_relative($file);
    open my $out, '>', $file or die "Apache::PerlSections: cannot write $file: $!\n";
    print {$out} $class->dump;
    close $out or die "Apache::PerlSections: cannot write $file: $!\n";
    return;
}

1;

__END__

=head1 NAME

Apache::PerlSections - the variables of <Perl> sections as Perl code

=head1 SYNOPSIS

    <Perl>
        $Apache::Server::SaveConfig = 1;
        ...
        require Apache::PerlSections;
        print STDERR Apache::PerlSections->dump;
        Apache::PerlSections->store('httpd_config.pl');    # relative to ServerRoot
    </Perl>

Read a stored file back with C<< <Perl> do '/path/httpd_config.pl'; </Perl> >>.

=head1 METHODS

=over

=item C<dump> returns the scalars, lists and hashes of L<Apache::ReadConfig> as a file for C<do>.
Code references cannot be dumped. After the sections, the variables exist only if
C<$Apache::Server::SaveConfig> was true in them.

=item C<store($file)> writes the dump to a file; dies on failure.

=back

=cut
