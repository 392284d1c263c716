//! The flame graph: the width of a sub is its share of the time, including the subs that it calls. The crate inferno
//! draws it; the result can be zoomed and searched in a browser without external resources.

use anyhow::Context;
use inferno::flamegraph::{Options, from_lines};

use super::{ClockMode, folded};
use profiler::StackProfile;

pub fn draw(profile: &StackProfile, mode: ClockMode, with_lines: bool, title: &str) -> anyhow::Result<Vec<u8>> {
    let text = folded::lines(profile, mode, with_lines);
    anyhow::ensure!(!text.is_empty(), "no worker had a request during the recording: the flame graph would be empty");
    let mut options = Options::default();
    options.title = title.to_owned();
    let (what, count) = match mode {
        ClockMode::Wall => ("wall-clock time", "samples"),
        ClockMode::Cpu => ("processor time", "us"),
    };
    options.subtitle = Some(format!("{what}, {:.1} s, {} samples", profile.seconds, profile.samples));
    options.count_name = count.to_owned();
    options.deterministic = true;
    let mut drawn = Vec::new();
    from_lines(&mut options, text.lines(), &mut drawn).context("the flame graph cannot be drawn")?;
    Ok(drawn)
}
