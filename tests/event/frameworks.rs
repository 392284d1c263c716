//! Frameworks of PSGI whose actions return before the response is finished.

use crate::support::Site;

const DANCER: &str = r#"package App;
use Dancer2;
use AnyEvent;
get '/late' => sub {
    delayed {
        flush;
        my $timer;
        $timer = AE::timer 0.01, 0, delayed { undef $timer; content "late"; done };
    };
};
get '/plain' => sub {"plain"};
App->to_app;
"#;

const CATALYST: &str = r#"BEGIN { @INC{qw(MyApp.pm MyApp/Controller/Root.pm)} = (1, 1) }
package MyApp::Controller::Root;
use Moose;
BEGIN { extends 'Catalyst::Controller' }
use AnyEvent::Handle;
__PACKAGE__->config(namespace => '');
sub late :Local {
    my ($self, $c) = @_;
    my $writer = $c->res->write_fh;
    my $timer;
    $timer = AE::timer 0.01, 0, sub { undef $timer; $writer->write("late"); $writer->close };
}
sub lines :Local {
    my ($self, $c) = @_;
    my $handle;
    my $over = sub { undef $handle };
    $handle = AnyEvent::Handle->new(fh => $c->req->io_fh, on_error => $over, on_eof => $over);
    $handle->push_write("HTTP/1.1 101 Switching\r\nUpgrade: lines\r\nConnection: Upgrade\r\n\r\n");
    $handle->on_read(sub { $handle->push_write('back: ' . delete $handle->{rbuf}) });
}
sub plain :Local { $_[1]->res->body("plain") }
package MyApp;
use Moose;
use Catalyst;
extends 'Catalyst';
MyApp->config(name => 'MyApp');
MyApp->setup;
MyApp->psgi_app;
"#;

#[test]
fn dancer2_and_catalyst_finish_responses_after_their_action_has_returned() {
    for app in [DANCER, CATALYST] {
        let server = Site::new().file("app.psgi", app).run_with_one_worker(["app.psgi", "--event"]);
        assert_eq!([server.text("/late"), server.text("/plain")], ["late", "plain"], "{app}");
    }
}

#[test]
fn catalyst_takes_the_connection() {
    let server = Site::new().file("app.psgi", CATALYST).run_with_one_worker(["app.psgi", "--event"]);
    let mut connection = server.connect();
    connection.raw("GET /lines HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n");
    assert_eq!(connection.head().status, 101);
    for line in ["one\n", "two\n"] {
        connection.raw(line);
        connection.expect(&format!("back: {line}"));
        assert_eq!(server.text("/plain"), "plain");
    }
}
