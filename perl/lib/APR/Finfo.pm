package APR::Finfo;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::Finfo - what is known of a file

=head1 SYNOPSIS

    use APR::Const -compile => 'FINFO_NORM';

    my $finfo = APR::Finfo::stat( '/etc/passwd', APR::Const::FINFO_NORM, $pool );
    print $finfo->size, $finfo->mtime, $finfo->filetype, $finfo->protection;

=head1 DESCRIPTION

C<atime csize ctime device filetype fname group inode mtime name nlink protection size user valid>. Times are in seconds.
C<< APR::Finfo->none(POOL) >> is that of no file. C<valid> is the
mask of what could be had.

=cut
