package Apache::httpd_conf;

use v5.36;

use File::Path ();
use File::Spec ();

# `base` is the folder, by default t in the current one; names that begin with a capital are directives.
sub new ( $class, %options ) {
    my $base = File::Spec->rel2abs( delete $options{base} // 't' );
    my %conf = (
        ServerRoot   => $base,
        ServerName   => 'localhost',
        Port         => 8529,
        DocumentRoot => "$base/docs",
        PidFile      => 'logs/httpd.pid',
        ErrorLog     => 'logs/error_log',
        MaxClients   => 1,
        StartServers => 1,
        %options,
    );
    return bless { base => $base, conf => \%conf }, $class;
}

# Writes conf/httpd.conf in the folder; returns the file's name.
sub write ( $of, %options ) {
    my $self = ref $of ? $of : $of->new(%options);
    my ( $base, $conf ) = @$self{qw(base conf)};
    delete $options{base};
    @$conf{ keys %options } = values %options;
    my @names = ( 'ServerRoot', grep { !/\A(?:ServerRoot|Port)\z/ } sort keys %$conf );
    File::Path::make_path( map { "$base/$_" } qw(conf docs logs perl) );
    my $file = "$base/conf/httpd.conf";
    open my $handle, '>', $file or die "cannot write $file: $!\n";
    print {$handle} ( map { "$_ $conf->{$_}\n" } @names ), "Listen 127.0.0.1:$conf->{Port}\n", registry($base);
    close $handle or die "cannot write $file: $!\n";
    return $file;
}

# Accessors of directives: $conf->DocumentRoot, $conf->Port(8888).
our $AUTOLOAD;

sub AUTOLOAD ( $self, @new ) {
    my $name = $AUTOLOAD =~ s/.*:://r;
    if ( $name !~ /\A[A-Z]/ || !ref $self ) {
        require Carp;
        Carp::croak( "Apache::httpd_conf has no method $name: directives begin with a capital, and are methods of an object" );
    }
    my $before = $self->{conf}{$name};
    $self->{conf}{$name} = $new[0] if @new;
    return $before;
}

sub DESTROY { return }

sub server_url ($self) { return 'http://' . $self->ServerName . ':' . $self->Port }

# The server's process id, from its PidFile.
sub pid ($self) {
    my $file = File::Spec->rel2abs( $self->PidFile, $self->{base} );
    open my $handle, '<', $file or die "cannot open $file: $!\n";
    chomp( my $pid = <$handle> );
    return $pid;
}

# Starts the server with the written file. Returns true when it answers.
sub server_start ( $self, %how ) {
    my $program = $how{httpd} // $ENV{CAMELEER} // 'cameleer';
    return system( $program, 'serve', '-f', "$self->{base}/conf/httpd.conf", '-k', 'start' ) == 0;
}

sub server_stop ($self) { return kill TERM => $self->pid }

sub registry ($base) {
    return <<"END";
Alias /perl/ $base/perl/
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

    my $conf = Apache::httpd_conf->new( base => 't' );
    $conf->write( Port => 8888 );
    print $conf->Port, ' ', $conf->DocumentRoot, ' ', $conf->server_url;

=head1 DESCRIPTION

One worker, listening on 127.0.0.1; documents in F<t/docs>, scripts in F<t/perl> under C</perl/>,
logs in F<t/logs>. Each argument replaces or adds a directive; C<Port> is 8529 by default. Returns
the file's name.

C<new> takes the same arguments, and C<base>, the folder. An object has a method for each directive,
which gets and sets its value, and C<server_url>. C<server_start> runs C<cameleer serve -k start>
(C<< httpd => PROGRAM >> or the variable C<CAMELEER> name another program); C<pid> and
C<server_stop> find and stop the server.

=cut
