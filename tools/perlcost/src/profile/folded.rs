//! A line for each stack, the outermost frame first, with its weight: as flame graph programs read them.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Mode;
use profiler::{Code, Frame, Profile, Stack};

/// What a stack counts: samples, or microseconds of processors.
pub fn weight(stack: &Stack, mode: Mode) -> u64 {
    match mode {
        Mode::Wall => stack.samples,
        Mode::Cpu => stack.cpu_us,
    }
}

/// By frames, so that lines that look the same are one.
pub fn lines(profile: &Profile, mode: Mode, with_lines: bool) -> String {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for by in &profile.requests {
        for stack in &by.stacks {
            let mut line = in_stack(&by.request);
            for frame in stack.frames.iter().filter_map(|at| profile.frames.get(*at as usize)) {
                line.push(';');
                line.push_str(&name(frame, with_lines));
            }
            *stacks.entry(line).or_default() += weight(stack, mode);
        }
    }
    let mut text = String::new();
    for (stack, weight) in stacks.iter().filter(|(_, weight)| **weight > 0) {
        let _ = writeln!(text, "{stack} {weight}");
    }
    text
}

fn name(frame: &Frame, with_lines: bool) -> String {
    let name = match frame.code {
        Code::Operator => format!("({})", frame.name),
        Code::File => format!("require {}", frame.file),
        Code::Sub | Code::Native | Code::Eval => frame.name.clone(),
    };
    let place = if with_lines { format!(" {}:{}", frame.file, frame.line) } else { String::new() };
    in_stack(&(name + &place))
}

/// A semicolon would begin another frame.
fn in_stack(text: &str) -> String {
    text.replace([';', '\n', '\r'], "_")
}
