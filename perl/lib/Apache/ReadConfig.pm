package Apache::ReadConfig;

# No strict: the variables of this package are the configuration.

our $VERSION = '1.31';

1;

__END__

=head1 NAME

Apache::ReadConfig - the package whose variables are configuration

=head1 SYNOPSIS

    <Perl>
        $MaxClients  = 20;
        @PerlModule  = qw(CGI DBI);
        push @Alias, '/icons/', '/srv/icons/';              # Alias takes two: one line
        push @Alias, [ '/images/', '/srv/images/' ];        # a nested list is one line

        for my $name (qw(red green)) {
            $Location{"/$name"} = {
                SetHandler  => 'perl-script',
                PerlHandler => sub { my $r = shift; $r->print('here'); return 0 },
                PerlSetVar  => [ [ color => $name ], [ size => 3 ] ],
                Limit       => { METHODS => 'GET POST', require => 'user camel' },
            };
        }
        push @{ $VirtualHost{'*:80'} }, { ServerName => 'a.example', Location => { '/' => { Options => 'None' } } };

        $PerlConfig = "KeepAlive On\n";
        Apache->httpd_conf('KeepAliveTimeout 5');
    </Perl>

=head1 DESCRIPTION

Code in a C<< <Perl> >> section is compiled into this package, without C<strict>. After it has run,
the package's variables with a directive's name become configuration in the place of the section: of
the server, or of the virtual host or container that has the section.

=over

=item A scalar is the rest of a line: C<$Alias = '/a /b'>. Code references and C<sub {...}> are one
word.

=item A list is one or more lines. Each nested list is one line. Other elements are grouped into
lines of as many as the directive requires; if it requires one and takes any number, all elements
are one line.

=item A hash is sections: the key is the section's argument (C<~ regex> and several addresses are
allowed), the value a hash of its contents, or a list of such hashes. In a section a list is one
line, a list of lists several; C<METHODS> is the argument of a single section like Limit.

=item C<$PerlConfig>, C<@PerlConfig> and arguments of C<< Apache->httpd_conf >> are literal lines.

=back

Modules are loaded first, and sections come last, Location after Directory and Files; otherwise the
order is by name. A tied hash determines the order of its keys. Code references are passed by name;
anonymous ones get a name with a number, in the order of the sections.

Names that are no directives are ignored, with a warning if they look like one;
C<$Apache::Server::StrictPerlSections = 1> makes them an error. An invalid directive is always an
error. After each section its variables are deleted, except those that subs use;
C<$Apache::Server::SaveConfig = 1> keeps them for the next section and for L<Apache::PerlSections>.

Sections run twice: before the server binds its ports, in a process that only reads the
configuration (C<$Apache::Server::Starting> is 1), and where the site's code is loaded
(C<$Apache::Server::Starting> is 2). The first run determines the configuration. Both run as
C<User>, if that is set in the file outside of sections.

=head1 ERRORS

    site.conf:12: <Perl>: Can't locate Foo.pm in @INC ...

A section that dies, exits or takes longer than C<StartTimeout> ends the start; a running server
continues with its old configuration.

=cut
