//! `die` and `exit` never cross the interface to Rust. One test function, because a process can have only one
//! interpreter.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
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
        // SAFETY: as above.
        eprint!("{}", String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.cast(), length) }));
    }
    pub unsafe extern "C" fn head(status: c_int) {
        OUT.with_borrow_mut(|o| o.extend_from_slice(format!("{status}\n").as_bytes()));
    }
    pub unsafe extern "C" fn header(n: *const c_char, nl: usize, v: *const c_char, vl: usize) {
        // SAFETY: as above.
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

#[test]
fn die_and_exit_become_values_and_pass_no_rust_frame() {
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

    assert_eq!(perl.eval("die qq{oops\\n}", "x", 1), Err(Interrupted::Died("oops\n".into())));
    assert_eq!(perl.eval("\n die 'here'", "conf", 7), Err(Interrupted::Died("here at conf line 8.\n".into())));
    for code in 0..200 {
        let exits = format!("local $x = 1; for (1) {{ eval {{ sub {{ exit {} }}->() }} }}", code % 5);
        assert_eq!(perl.eval(&exits, "x", 1), Err(Interrupted::Exited(code % 5)));
    }

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
    perl.env_begin();
    perl.eval("$ENV{TZ} = 'Asia/Tokyo'; print +(localtime 0)[2]; delete $ENV{TZ}; local $ENV{TZ} = 'Asia/Tokyo'; print +(localtime 0)[2], scalar(keys %ENV)", "x", 1).expect("prints");
    assert_eq!(output(), "992");
    perl.restore_state();
    perl.env_begin();
    perl.eval("print 'a'; system 'printf %s \"$GREETING\"'; print 'b'; print `printf c`; printf '%s', 'd'", "x", 1)
        .expect("prints");
    assert_eq!(output(), "ahellobcd");
    perl.eval("$| = 1; open STDOUT, '>', '/dev/null'; $/ = undef; $SIG{ALRM} = sub {}; alarm 100; chdir '/'", "x", 1)
        .expect("soils");
    let left: Vec<_> = perl.restore_state().names().collect();
    assert_eq!(left, ["the working directory", "a signal handler", "an alarm", "$/", "STDOUT", "$|"]);
    perl.eval("print 'back' . (defined $ENV{GREETING} ? 1 : 0)", "x", 1).expect("prints");
    assert_eq!(output(), "back0");
    assert_eq!(perl.restore_state().0, 0);

    let soil = "binmode STDOUT, ':encoding(UTF-8)'; open STDERR, '>', '/dev/null'; close STDOUT; print {*STDERR} 'x'";
    let handles = || std::fs::read_dir("/proc/self/fd").expect("procfs").count();
    let before = handles();
    for _ in 0..50 {
        perl.eval(soil, "x", 1).expect("soils");
        assert_eq!(perl.restore_state().names().collect::<Vec<_>>(), ["STDOUT", "STDERR"]);
    }
    assert_eq!(handles(), before, "no descriptor is left behind");
    perl.eval("binmode STDOUT, ':utf8'; print chr 233", "x", 1).expect("prints");
    assert_eq!(perl.restore_state().0, 0, "layers are ordinary");
    assert_eq!(output(), "\u{e9}");

    let app = perl.load_psgi("sub { [200, ['X-A' => 'b'], ['hi ', $_[0]{PATH_INFO}]] }", false).expect("loads");
    perl.psgi_begin(false, 1);
    perl.psgi_put(b"PATH_INFO", b"/x");
    let (result, run) = perl.psgi_run(&app);
    assert_eq!((result, run.needs_cleanup, run.leave), (Ok(()), false, false));
    assert_eq!(output(), "200\nX-A: b\nhi /x");

    let app = perl.load_psgi("sub { my $env = shift; push @{$env->{'psgix.cleanup.handlers'}}, sub { print 'clean' }; sub { my $w = $_[0]->([201, []]); $w->write('x'); $w->close } }", false).expect("loads");
    perl.psgi_begin(false, 1);
    let (result, run) = perl.psgi_run(&app);
    assert_eq!((result, run.needs_cleanup), (Ok(()), true));
    assert_eq!(perl.psgi_cleanup(), (Ok(()), false));
    assert_eq!(output(), "201\nx", "what an application prints is the log's");

    let app = "sub { $_[0]{'cameleer.extend_timeout'}->(1); die 'in app' }";
    let app = perl.load_psgi(app, false).expect("loads");
    perl.psgi_begin(false, 1);
    let (result, _) = perl.psgi_run(&app);
    assert!(matches!(result, Err(Interrupted::Died(text)) if text.starts_with("in app at ")));
    assert_eq!(ENDED.load(Ordering::Relaxed), 4, "each frame between Perl and Perl has ended as Rust frames do");
}
