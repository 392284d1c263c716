package APR::Finfo;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::Finfo - file attributes

=head1 SYNOPSIS

    use APR::Const -compile => 'FINFO_NORM';

    my $finfo = APR::Finfo::stat( '/etc/passwd', APR::Const::FINFO_NORM, $pool );
    print $finfo->size, $finfo->mtime, $finfo->filetype, $finfo->protection;

=head1 DESCRIPTION

C<atime csize ctime device filetype fname group inode mtime name nlink protection size user valid>.
Times are in seconds. C<valid> is the mask of the fields that are known. C<< APR::Finfo->none(POOL)
>> returns the attributes of a missing file.

=cut
