package Apache::httpd_conf;

use v5.36;

use Cwd        ();
use File::Path ();

# Writes t/conf/httpd.conf below the current folder, for a module's own tests. Returns the file's name.
sub write ( $class, %said ) {
    my $root = Cwd::getcwd();
    my %conf = (
        ServerRoot   => "$root/t",
        ServerName   => 'localhost',
        Port         => 8529,
        DocumentRoot => "$root/t/docs",
        PidFile      => 'logs/httpd.pid',
        ErrorLog     => 'logs/error_log',
        MaxClients   => 1,
        StartServers => 1,
        %said,
    );
    my $port = delete $conf{Port};
    my $conf = join '', map { "$_ $conf{$_}\n" } ( 'ServerRoot', grep { $_ ne 'ServerRoot' } sort keys %conf );
    File::Path::make_path( map { "$root/t/$_" } qw(conf docs logs perl) );
    my $file = "$root/t/conf/httpd.conf";
    open my $handle, '>', $file or die "$file: $!\n";
    print {$handle} $conf, "Listen 127.0.0.1:$port\n", registry($root);
    close $handle or die "$file: $!\n";
    return $file;
}

sub registry ($root) {
    return <<"END";
Alias /perl/ $root/t/perl/
<Location /perl>
    SetHandler perl-script
    PerlHandler Apache::Registry
    Options +ExecCGI
    PerlSendHeader On
</Location>
END
}

1;

__END__

=head1 NAME

Apache::httpd_conf - writes a configuration for a module's own tests

=head1 SYNOPSIS

    # in Makefile.PL
    use Apache::httpd_conf ();
    my $file = Apache::httpd_conf->write( Port => 8529 );    # t/conf/httpd.conf

    % cameleer serve -f t/conf/httpd.conf

=head1 DESCRIPTION

One worker, listening on 127.0.0.1; documents in F<t/docs>, scripts in F<t/perl> under C</perl/>, logs in F<t/logs>.
Each argument replaces or adds a directive; C<Port> is 8529 by default. Returns the file's name.

=cut
