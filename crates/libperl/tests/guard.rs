//! `die` and `exit` never cross the interface to Rust, and the changes that a request makes end with it. Each test has
//! a process of its own, because a process can have only one interpreter.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use libperl::{Hooks, Interpreter, Interrupted};

thread_local!(static OUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });

#[allow(unsafe_code, reason = "the hooks' C shape")]
mod hooks {
    use super::*;
    pub unsafe extern "C" fn write(bytes: *const c_char, length: usize) -> c_int {
        // SAFETY: the shim passes a valid pair.
        OUT.with_borrow_mut(|o| o.extend_from_slice(unsafe { std::slice::from_raw_parts(bytes.cast(), length) }));
        libperl::HERE
    }
    pub unsafe extern "C" fn flush() -> c_int {
        libperl::HERE
    }
    /// A Rust frame between Perl frames, as in a subrequest.
    pub unsafe extern "C" fn extend(_: f64) {
        let _frame = Frame;
        let run = |code: &CStr| {
            let _frame = Frame;
            // SAFETY: both texts are valid; die and exit in the code become a status.
            unsafe { libperl_sys::cml_eval(code.as_ptr(), code.count_bytes(), c"inside".as_ptr(), 1) }
        };
        let codes = [c"die 'inside'", c"exit 3", c"sub Dies::DESTROY { die 'gone' } bless [], 'Dies'; 1"];
        assert_eq!(codes.map(run), [libperl_sys::DIED, libperl_sys::EXITED, libperl_sys::OK]);
    }
    pub unsafe extern "C" fn log(bytes: *const c_char, length: usize) {
        // SAFETY: the shim passes a valid pair.
        eprint!("{}", String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.cast(), length) }));
    }
    pub unsafe extern "C" fn head(status: c_int) {
        OUT.with_borrow_mut(|o| o.extend_from_slice(format!("{status}\n").as_bytes()));
    }
    pub unsafe extern "C" fn header(n: *const c_char, nl: usize, v: *const c_char, vl: usize) {
        // SAFETY: the shim passes two valid pairs.
        unsafe {
            write(n, nl);
            write(c": ".as_ptr(), 2);
            write(v, vl);
            write(c"\n".as_ptr(), 1);
        }
    }
}

#[allow(unsafe_code, reason = "the hook's C shape")]
unsafe extern "C" fn environment() {
    libperl::env_put(b"GREETING", b"hello");
}

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// A Rust value whose destructor must run.
struct Frame;

impl Drop for Frame {
    fn drop(&mut self) {
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

fn output() -> String {
    OUT.with_borrow_mut(|o| String::from_utf8(std::mem::take(o)).expect("UTF-8"))
}

/// Starts this program again for the calling test alone, and there runs `body`.
fn alone(body: impl FnOnce(&Interpreter)) {
    const INSIDE: &str = "CAMELEER_TEST_ALONE";
    if std::env::var_os(INSIDE).is_some() {
        return body(&boot());
    }
    let thread = std::thread::current();
    let test = thread.name().expect("a thread has its test's name");
    let mut program = Command::new(std::env::current_exe().expect("this program"));
    let ended = program.args(["--exact", test, "--nocapture"]).env(INSIDE, "1").output().expect("starts");
    let output = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    // The result is not among the output: perl's STDOUT has taken descriptor 1 by then.
    assert!(output.contains("running 1 test") && ended.status.success(), "{}: {output}", ended.status);
}

fn boot() -> Interpreter {
    let hooks = Hooks {
        write: hooks::write,
        flush: hooks::flush,
        log: hooks::log,
        head: hooks::head,
        header: hooks::header,
        environment,
        extend: hooks::extend,
    };
    let perl = Interpreter::boot(&hooks, None).expect("boots");
    perl.eval("unshift @INC, '../../perl/lib'; require Cameleer; require Cameleer::PSGI", "boot", 1).expect("loads");
    perl.after_fork();
    perl
}

#[test]
fn die_and_exit_become_values() {
    alone(|perl| {
        assert_eq!(perl.eval("die qq{oops\\n}", "x", 1), Err(Interrupted::Died("oops\n".into())));
        assert_eq!(perl.eval("\n die 'here'", "conf", 7), Err(Interrupted::Died("here at conf line 8.\n".into())));
        for code in 0..200 {
            let exits = format!("local $x = 1; for (1) {{ eval {{ sub {{ exit {} }}->() }} }}", code % 5);
            assert_eq!(perl.eval(&exits, "x", 1), Err(Interrupted::Exited(code % 5)));
        }
    });
}

#[test]
fn each_rust_frame_between_perl_frames_ends_as_rust_frames_do() {
    alone(|perl| {
        let app = "sub { $_[0]{'cameleer.extend_timeout'}->(1); die 'in app' }";
        let app = perl.load_psgi(app, false).expect("loads");
        perl.psgi_begin(false, 1);
        let (result, _) = perl.psgi_run(&app);
        assert!(matches!(result, Err(Interrupted::Died(text)) if text.starts_with("in app at ")));
        assert_eq!(ENDED.load(Ordering::Relaxed), 4, "the hook has four frames");
    });
}

#[test]
fn the_environment_is_filled_for_whatever_reads_it() {
    alone(|perl| {
        for look in [
            "$ENV{GREETING}",
            "join '', map { $ENV{$_} } keys %ENV",
            "my $e = \\%ENV; join '', values %$e",
            "my $k = 'GREETING'; delete $ENV{$k}",
            "`printf %s $ENV{GREETING}`",
            "(each %ENV)[1]",
            "my %c = %ENV; $c{GREETING}",
            "@ENV{'GREETING'}",
        ] {
            perl.env_begin();
            perl.eval(&format!("print do {{ {look} }}"), "x", 1).expect("prints");
            assert_eq!(output(), "hello", "{look}");
            assert_eq!(perl.restore_state().0, 0);
        }
        perl.eval("print 'back' . (defined $ENV{GREETING} ? 1 : 0)", "x", 1).expect("prints");
        assert_eq!(output(), "back0", "it ends with its request");
    });
}

#[test]
fn a_change_of_the_time_zone_has_an_immediate_effect() {
    alone(|perl| {
        perl.env_begin();
        let hours = "$ENV{TZ} = 'Asia/Tokyo'; print +(localtime 0)[2]; delete $ENV{TZ}; \
                     local $ENV{TZ} = 'Asia/Tokyo'; print +(localtime 0)[2], scalar(keys %ENV)";
        perl.eval(hours, "x", 1).expect("prints");
        assert_eq!(output(), "992");
    });
}

#[test]
fn output_of_children_joins_the_output_in_its_place() {
    alone(|perl| {
        perl.env_begin();
        let prints = "print 'a'; system 'printf %s \"$GREETING\"'; print 'b'; print `printf c`; printf '%s', 'd'";
        perl.eval(prints, "x", 1).expect("prints");
        assert_eq!(output(), "ahellobcd");
    });
}

#[test]
fn state_that_a_request_has_changed_is_restored_and_named() {
    alone(|perl| {
        let soil = "$| = 1; open STDOUT, '>', '/dev/null'; $/ = undef; $SIG{ALRM} = sub {}; alarm 100; chdir '/'";
        perl.eval(soil, "x", 1).expect("soils");
        let left: Vec<_> = perl.restore_state().names().collect();
        assert_eq!(left, ["the working directory", "a signal handler", "an alarm", "$/", "STDOUT", "$|"]);
        perl.eval("print 'back'", "x", 1).expect("prints");
        assert_eq!(output(), "back");
        assert_eq!(perl.restore_state().0, 0);
    });
}

#[test]
fn restored_handles_leave_no_descriptor_behind() {
    alone(|perl| {
        let soil =
            "binmode STDOUT, ':encoding(UTF-8)'; open STDERR, '>', '/dev/null'; close STDOUT; print {*STDERR} 'x'";
        let descriptors = || std::fs::read_dir("/proc/self/fd").expect("procfs").count();
        let before = descriptors();
        for _ in 0..50 {
            perl.eval(soil, "x", 1).expect("soils");
            assert_eq!(perl.restore_state().names().collect::<Vec<_>>(), ["STDOUT", "STDERR"]);
        }
        assert_eq!(descriptors(), before);
    });
}

#[test]
fn layers_of_stdout_are_ordinary() {
    alone(|perl| {
        perl.eval("binmode STDOUT, ':utf8'; print chr 233", "x", 1).expect("prints");
        assert_eq!(perl.restore_state().0, 0);
        assert_eq!(output(), "\u{e9}");
    });
}

#[test]
fn the_response_of_a_psgi_application_is_sent() {
    alone(|perl| {
        let app = perl.load_psgi("sub { [200, ['X-A' => 'b'], ['hi ', $_[0]{PATH_INFO}]] }", false).expect("loads");
        perl.psgi_begin(false, 1);
        perl.psgi_put(b"PATH_INFO", b"/x");
        let (result, run) = perl.psgi_run(&app);
        assert_eq!((result, run.needs_cleanup, run.leave), (Ok(()), false, false));
        assert_eq!(output(), "200\nX-A: b\nhi /x");
    });
}

#[test]
fn output_that_a_psgi_application_prints_is_no_part_of_its_response() {
    alone(|perl| {
        let app = "sub { my $env = shift; push @{$env->{'psgix.cleanup.handlers'}}, sub { print 'clean' }; \
                   sub { my $w = $_[0]->([201, []]); $w->write('x'); $w->close } }";
        let app = perl.load_psgi(app, false).expect("loads");
        perl.psgi_begin(false, 1);
        let (result, run) = perl.psgi_run(&app);
        assert_eq!((result, run.needs_cleanup), (Ok(()), true));
        assert_eq!(perl.psgi_cleanup(), (Ok(()), false));
        assert_eq!(output(), "201\nx");
    });
}
