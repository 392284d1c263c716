//! Folded stacks, the input of flame graph programs: one line per stack with its weight, the outermost frame first.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::ClockMode;
use profiler::{PerlStack, StackCode, StackFrame, StackProfile};

/// Weight of a stack: samples, or CPU time in µs.
pub fn weight(stack: &PerlStack, mode: ClockMode) -> u64 {
    match mode {
        ClockMode::Wall => stack.samples,
        ClockMode::Cpu => stack.cpu_us,
    }
}

/// Formats the lines; stacks with equal text are merged.
pub fn lines(profile: &StackProfile, mode: ClockMode, with_lines: bool) -> String {
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

fn name(frame: &StackFrame, with_lines: bool) -> String {
    let name = match frame.code {
        StackCode::Operator => format!("({})", frame.name),
        StackCode::File => format!("require {}", frame.file),
        StackCode::Sub | StackCode::Native | StackCode::Eval => frame.name.clone(),
    };
    let place = if with_lines { format!(" {}:{}", frame.file, frame.line) } else { String::new() };
    in_stack(&(name + &place))
}

/// Replaces characters that would begin another frame or line.
fn in_stack(text: &str) -> String {
    text.replace([';', '\n', '\r'], "_")
}
