package Apache::PerlRun;

use v5.36;

use Apache                    ();
use Apache::Constants         qw(OK NOT_FOUND FORBIDDEN SERVER_ERROR DECLINED OPT_EXECCGI);
use Apache::Registry          ();
use Apache::Registry::Compile ();
use Apache::Registry::Package ();
use Apache::Registry::Source  ();

# Cached scripts, by package: { mtime }.
our %KNOWN;

sub new ( $class, $r ) { return bless { r => $r }, ref $class || $class }

sub handler { return __PACKAGE__->serve(@_) }

# Called as a function or as a method (`PerlHandler My::Run->handler`): the request is the last argument in both
# cases.
sub serve ( $class, @called ) {
    my $r    = pop @called;
    my $self = ( $called[0] // $class )->new($r);
    my $rc   = $self->can_compile;
    return $rc if $rc != OK;
    $self->namespace;
    return $self->in_place( sub { $self->answer } );
}

# Compiles the script for this run only; its package is flushed afterwards.
sub answer ($self) {
    my %others = libraries();
    my $forget = sub { $self->flush_namespace; libraries(); @INC{ keys %others } = values %others };
    push @Apache::UNWIND, [ $self->{r}->number, $forget ];
    $self->flush_namespace;
    $self->prepare;
    my $rc = $self->compile;
    $rc = $self->run if $rc == OK;
    pop @Apache::UNWIND;
    $forget->();
    $self->{r}->child_terminate if lc( $self->{r}->dir_config('PerlRunOnce') // '' ) eq 'on';
    return $rc;
}

# Removes files loaded by `require` from %INC: `require 'lib.pl'` compiles into the script's package, and
# another script that finds the file in %INC would miss its subs.
sub libraries { return delete %INC{ grep { !/\.pm\z/ } keys %INC } }

# Runs code in the script's folder, with $0 set to its name. END blocks run, and the folder is restored, even
# after exit or die.
sub in_place ( $self, $act ) {
    my $leave = sub { $self->leave };
    push @Apache::UNWIND, [ $self->{r}->number, $leave ];
    $self->chdir_file;
    local *0    = \( my $name = $self->{r}->filename );
    local @ARGV = Apache::Registry::words( $self->{r} );
    local $^W   = $^W;
    my $rc = $act->();
    pop @Apache::UNWIND;
    $leave->();
    return $rc == OK ? $self->status : $rc;
}

sub leave ($self) {
    $self->run_end_blocks;
    $self->chdir_file("$Apache::Server::CWD/");
    return;
}

# --- checks before compilation

# Returns OK, or the status of the refusal.
sub can_compile ($self) {
    my ( $r, $file ) = ( $self->{r}, $self->{r}->filename );
    my $refusal = Apache::Registry::refusal( $r, $file );
    return $refusal if $refusal;
    $self->{mtime} = Apache::Registry::mtime($file);
    return wantarray ? ( OK, $self->{mtime} ) : OK;
}

# --- the script's package

sub namespace_from ($self) {
    my $r = $self->{r};
    return $r->script_name unless $Apache::Registry::NameWithVirtualHost && $r->server->is_virtual;
    return $r->virtual_host . $r->script_name;
}

sub namespace ( $self, $root = 'Apache::ROOT' ) {
    return $self->{namespace} //= Apache::Registry::Package::name_of( $self->namespace_from ) =~ s/\AApache::ROOT/$root/r;
}

sub flush_namespace ( $self, $package = $self->namespace ) {
    Apache::Registry::Package::flush($package);
    return;
}

# --- the script's text

sub prepare ($self) {
    $self->readscript;
    $self->parse_cmdline;
    $self->sub_wrap;
    return;
}

sub readscript ($self) {
    $self->{source} = Apache::Registry::Source->read( $self->{r}->filename );
    return $self->{code} = \$self->{source}{code};
}

# Evaluates `#!perl -w`.
sub parse_cmdline ( $self, $code = $self->{code} ) {
    $$code = "BEGIN { \$^W = 1 } \$^W = 1; $$code" if $$code =~ /\A#!.*perl\S*(?:\s+-\w+)*?\s+-\w*w/;
    return $code;
}

sub mark_line ($self) {
    my $file = $self->{r}->filename =~ tr/"\n\r\0/_/r;
    return qq{\n#line 1 "$file"\n};
}

sub sub_wrap ( $self, $code = $self->{code}, $package = $self->namespace ) {
    my $text = "package $package; sub handler {" . $self->mark_line . "$$code\n}\n";
    return $self->{sub} = \$text;
}

sub compile ( $self, $text = $self->{sub} ) {
    my $r = $self->{r};
    $r->clear_rgy_endav;
    Apache->untaint($$text);
    {
        local $!;
        Apache::Registry::Compile::compile($$text);
    }
    $r->stash_rgy_endav;
    return $self->error_check;
}

sub error_check ($self) {
    my $error = $@;
    return OK if $error eq '';
    $@ = '';    ## no critic: whoever looks at it next must not find this
    return $self->failed($error);
}

sub failed ( $self, $error ) {
    my $r = $self->{r};
    $r->log_error($error);
    $r->notes( 'error-notes' => $error );
    Apache::_remember($error);
    return SERVER_ERROR;
}

# --- the cache

sub cached ($self) { return exists $KNOWN{ $self->namespace } }

sub should_compile ( $self, $package = $self->namespace, $mtime = $self->{mtime} ) {
    return !( $self->cached && $KNOWN{$package}{mtime} == $mtime );
}

sub set_mtime ( $self, $mtime = $self->{mtime}, $package = $self->namespace ) {
    $KNOWN{$package} = { mtime => $mtime, source => $self->{source} };
    return;
}

# --- execution

sub run ( $self, @arguments ) {
    $self->open_data;
    my $code = do { no strict 'refs'; \&{ $self->namespace . '::handler' } };
    $code->( $self->{r}, @arguments );
    return OK;
}

sub status ($self) { return $self->{r}->status }

# DATA is reopened for each run.
sub open_data ($self) {
    my $source = $self->{source} // $KNOWN{ $self->namespace }{source};
    my $at     = $source->{data} // return;
    my $file   = $self->{r}->filename;
    for my $package ( grep { defined } $self->namespace, $source->{package} ) {
        no strict 'refs';
        open *{"${package}::DATA"}, '<', $file or die "cannot open $file for DATA: $!\n";
        seek *{"${package}::DATA"}, $at, 0;
    }
    return;
}

sub chdir_file ( $self, $file = $self->{r}->filename ) { return $self->{r}->chdir_file($file) }

sub set_script_name ($self) {
    $0 = $self->{r}->filename;    ## no critic: a caller that asks for it means the process's name too
    return;
}

# --- END blocks, by script

my %END_BLOCKS;

sub run_end_blocks ($self) {
    for my $block ( @{ $END_BLOCKS{ $self->{r}->filename } // [] } ) {
        eval { $block->(); 1 } or Apache::log_error($@);
    }
    return;
}

package Apache {

    # Before a script is compiled: removes its old END blocks.
    sub clear_rgy_endav ( $r, $file = $r->filename ) {
        Apache::Registry::take_end_blocks($file);
        delete $END_BLOCKS{$file};
        return;
    }

    # After it was compiled: its END blocks run after each run, instead of at the end of the process.
    sub stash_rgy_endav ( $r, $file = $r->filename ) {
        my @blocks = Apache::Registry::take_end_blocks($file);
        $END_BLOCKS{$file} = \@blocks if @blocks;
        return;
    }
}

1;

__END__

=head1 NAME

Apache::PerlRun - CGI scripts that are compiled for every request

=head1 SYNOPSIS

    SetHandler perl-script
    PerlHandler Apache::PerlRun
    Options +ExecCGI
    PerlSendHeader On

=head1 DESCRIPTION

For scripts that rely on fresh global variables: the script is compiled and run for each request,
then everything in its package except nested packages is deleted. perl itself and modules stay
loaded. With C<PerlSetVar PerlRunOnce On> the worker leaves after the request.

=head2 For subclasses

C<new(R)> makes an object with C<{r}>. C<handler> calls C<can_compile>, C<namespace> (which uses
C<namespace_from>), C<chdir_file>, C<readscript>, C<parse_cmdline>, C<sub_wrap> (with C<mark_line>),
C<compile> (with C<error_check>), C<run>, C<flush_namespace>, C<run_end_blocks> and C<status>;
subclasses that cache scripts also C<should_compile>, C<cached> and C<set_mtime>.
C<set_script_name>, which is not called by default, sets the process' name to the script's. Each
method may be overridden, as in mod_perl 1: L<Apache::RegistryNG> and L<Apache::RegistryBB> do so. A
subclass with its own C<handler> calls C<< __PACKAGE__->serve(@_) >>.

=cut
