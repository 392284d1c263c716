# Reason phrases of statuses.

use v5.36;
use lib __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;

use Cameleer::Event::Status;

is Cameleer::Event::Status::reason(200), 'OK',        'a status of HTTP';
is Cameleer::Event::Status::reason(404), 'Not Found', 'another one';
is Cameleer::Event::Status::reason(299), 'Status',    'one that HTTP does not have';

is Cameleer::Event::Status::of_error("the request took longer than RequestTimeout at x line 1.\n"), 504, 'an interruption';
is Cameleer::Event::Status::of_error("no RequestTimeout at x line 1.\n"),                            500, 'another exception';

done_testing;
