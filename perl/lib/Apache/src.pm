package Apache::src;

use v5.36;

# Asked by the Makefile.PL of XS modules that are linked against httpd. There is no httpd here, so the answer is clear
# and early.
sub new ( $class, @ ) { return bless {}, $class }

sub version     { return 'Apache/1.3 API, mod_perl/1.31, by Cameleer' }
sub default_dir { return }
sub dir         { return }
sub find        { return }

for my $name (qw(inc typemaps define module_magic_number httpd_version main)) {
    no strict 'refs';
    *$name = sub {
        die "Apache::src->$name: modules in C for httpd cannot be built here: there is no httpd and no source of it. "
          . "Pure Perl modules, and C modules that need perl alone, work.\n";
    };
}

1;

__END__

=head1 NAME

Apache::src - says that there is no httpd to build against

=head1 SYNOPSIS

    perl -MApache::src -e 'print Apache::src->new->inc'

=head1 DESCRIPTION

Modules in C that are linked against httpd cannot be used; what would need its source dies with a message that says
so. C<find>, C<dir> and C<default_dir> return nothing: no source was found.

=cut
