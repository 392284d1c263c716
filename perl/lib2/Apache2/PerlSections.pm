package Apache2::PerlSections;

use v5.36;

use Apache::PerlSections ();
use Apache2::ServerRec   ();
use Cameleer::ModPerl2   ();
use Cameleer::Sections   ();
use mod_perl2            ();

our $VERSION = '2.00';

# Whether the variables of a section stay after it.
our $Save;

# The server that contains the section.
sub server ($class) { return bless \( my $number = 0 + ( $Cameleer::Sections::HOST // 0 ) ), 'Apache2::ServerRec' }

# The saved variables of all sections, as Perl code.
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

Apache2::PerlSections - configuration made by Perl code

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

The rules are those of L<Apache::ReadConfig>, except for the package: each section has its own,
named after file and line: line 20 of F</etc/site.conf> is
C<Apache2::ReadConfig::etc::site_conf::line_20>. A section may also set
C<$Apache2::ReadConfig::Name>. In a section C<$0> is the name of the file. A line C<Perl code> is a
section of one line.

In C<%Location> and similar hashes, a string instead of a hash is the name of a hash.

=head1 METHODS

=over

=item C<server> is the server or virtual host that contains the section; outside of sections the
main server. A host that Perl code has made does not exist yet when a section in it runs: there,
too, it is the main server.

=item C<dump> returns, as Perl code, the variables of the sections that set
C<$Apache2::PerlSections::Save> to true. Code references cannot be dumped.

=item C<store($file)> writes the dump to a file below ServerRoot; dies on failure.

=back

=cut
