package Apache2::PerlSections;

use v5.36;

use Apache::PerlSections ();
use Apache2::ServerRec   ();
use Cameleer::ModPerl2   ();
use Cameleer::Sections   ();
use mod_perl2            ();

our $VERSION = '2.00';

# Whether the variables of a section are there after it.
our $Save;

# The server that the section stands in.
sub server ($class) { return bless \( my $number = 0 + ( $Cameleer::Sections::HOST // 0 ) ), 'Apache2::ServerRec' }

# The variables of all sections that were saved, as Perl code.
sub dump ($) {    ## no critic: the name is the API's
    my $text = join '', map { _variables($_) } @Cameleer::Sections::SAVED;
    return "${text}1;\n__END__\n";
}

sub _variables ($package) {
    no strict 'refs';
    my $stash = \%{"${package}::"};
    my $text  = '';
    for my $name ( grep { !/::\z/ && ref \$stash->{$_} eq 'GLOB' } sort keys %$stash ) {
        my $glob = *{ $stash->{$name} };
        my ( $scalar, $array, $hash ) = ( ${ *$glob{SCALAR} }, *$glob{ARRAY}, *$glob{HASH} );
        $text .= Apache::PerlSections::assignment( '$', $name, $scalar ) if defined $scalar;
        $text .= Apache::PerlSections::assignment( '*', $name, $array )  if $array && @$array;
        $text .= Apache::PerlSections::assignment( '*', $name, $hash )   if $hash && %$hash;
    }
    return $text;
}

sub store ( $class, $file ) {
    $file = Apache->server_root_relative($file);
    open my $out, '>', $file or die "Apache2::PerlSections: cannot write $file: $!\n";
    print {$out} $class->dump;
    close $out or die "Apache2::PerlSections: cannot write $file: $!\n";
    return;
}

1;

__END__

=head1 NAME

Apache2::PerlSections - configuration that Perl code says

=head1 SYNOPSIS

    <Perl>
        $Apache2::PerlSections::Save = 1;
        for my $name (qw(red green)) {
            $Location{"/$name"} = { SetHandler => 'modperl', PerlResponseHandler => "My::$name" };
        }
        push @PerlConfig, 'Alias /images /srv/images';
        Apache2::PerlSections->server->push_handlers( PerlFixupHandler => \&My::fixup );
    </Perl>

    Perl $My::Site::color = 'red';

=head1 DESCRIPTION

The rules are those of L<Apache::ReadConfig>, but for the package: each section has its own, made from file and line:
F</etc/site.conf>, line 20, is C<Apache2::ReadConfig::etc::site_conf::line_20>. C<$Apache2::ReadConfig::Name> is said with the section
that sets it. In a section C<$0> is the name of the file. A line C<Perl code> is a section of one line.

In C<%Location> and its like a text instead of a hash is the name of one.

=head1 METHODS

=over

=item C<server> is the server or virtual host that the section stands in; outside of sections the main one. A host that Perl code has
made is not there yet when a section in it runs: there it is the main one, too.

=item C<dump> returns, as Perl code, the variables of the sections in which C<$Apache2::PerlSections::Save> was true. Code cannot be dumped.

=item C<store($file)> writes that to a file below ServerRoot; dies when it cannot.

=back

=cut
