package Apache::src;

use v5.36;

# The Makefile.PL of XS modules that are linked against httpd uses this module. There is no httpd here, so it
# fails early with a clear message.
sub new ( $class, @ ) { return bless {}, $class }

# The module magic numbers of build and run are always equal here.
sub mmn_eq              { return 1 }
sub module_magic_number { require Apache::Constants; return Apache::Constants::MODULE_MAGIC_NUMBER() }
sub httpd_version       { return '1.3.42' }
sub otherldflags        { return '' }
sub apxs                { return '' }

sub version     { return 'Apache/1.3 API, mod_perl/1.31, by Cameleer' }
sub default_dir { return }
sub dir         { return }
sub find        { return }

for my $name (qw(inc typemaps define ccflags main)) {
    no strict 'refs';
    *$name = sub {
        die "Apache::src->$name: modules in C for httpd cannot be built here: there is no httpd and no source of it. "
          . "Pure Perl modules, and C modules that need perl alone, work.\n";
    };
}

1;

__END__

=head1 NAME

Apache::src - not available: there is no httpd to build against

=head1 SYNOPSIS

    perl -MApache::src -e 'print Apache::src->new->inc'

=head1 DESCRIPTION

Modules in C that are linked against httpd cannot be built; methods that need httpd's source die
with a message. C<find>, C<dir> and C<default_dir> return nothing. C<module_magic_number> and
C<httpd_version> are those of the API that this server implements, and C<mmn_eq> is true.

=cut
