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
        push @Alias, '/icons/', '/srv/icons/';              # as many as Alias takes make one line
        push @Alias, [ '/images/', '/srv/images/' ];        # a list of its own is one line, however long

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

Code in a C<< <Perl> >> section is compiled into this package, without C<strict>. When it has run, the variables of the package
that are named like a directive become configuration in the place of the section: of the server, or of the virtual host or
container that the section stands in.

=over

=item A scalar is the rest of a line, as it would be written: C<$Alias = '/a /b'>. Code and C<sub {...}> are one word.

=item A list is one or more lines. Lists in it are a line each. Of its other elements as many make a line as the directive needs at
least; all of them, when it needs one and takes any number.

=item A hash is sections: the key is the section's argument (C<~ regex>, several addresses, are possible), the value a hash of
what stands in it, or a list of such hashes. In it a list is one line, a list of lists several; C<METHODS> is the argument of
a single section like Limit.

=item C<$PerlConfig>, C<@PerlConfig> and what C<< Apache->httpd_conf >> was given are lines as they are.

=back

Modules are loaded first, sections come last, Location after Directory and Files; within that order is by name. The keys of
a tied hash keep its order. Code references travel by name; one without gets a name, counted in the order of the sections.

Names that are no directive are passed over, with a word in the log when they look like one;
C<$Apache::Server::StrictPerlSections = 1> makes them an error. A directive that is known and wrong is always an error.
After each section its variables are gone, except for subs that use them; C<$Apache::Server::SaveConfig = 1> keeps them for the next
section and for L<Apache::PerlSections>.

Sections run twice: before the server binds, in a process that only reads (C<$Apache::Server::Starting> is 1), and where the site's
code is loaded (C<$Apache::Server::Starting> is 2). What they say is taken from the first run. Both run as C<User> when that
stands in the file outside of sections.

=head1 ERRORS

    site.conf:12: <Perl>: Can't locate Foo.pm in @INC ...

A section that dies, exits or takes longer than C<StartTimeout> ends the start; a running server goes on with what it has.

=cut
