//! libFuzzer's own callback for each block of code does nothing: the calls go to the counter of fuzz/slope
//! instead.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-Wl,--wrap=__sanitizer_cov_trace_pc");
    println!("cargo::rustc-link-arg-bins=-Wl,--defsym=__wrap___sanitizer_cov_trace_pc=__sanitizer_slope_step");
}
