//! The Perl stack of a worker, drawn over the table.

use ratatui::Frame;
use ratatui::layout::Margin;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use super::tables::took;
use base::printable;
use profiler::{ObservedRequest, ObservedWorker};

/// Draws the last stack read.
pub fn draw(frame: &mut Frame, worker: u32, looked: Option<&ObservedWorker>) {
    let area = frame.area().inner(Margin { horizontal: 2, vertical: 2 });
    let block = Block::bordered().title(format!(" worker {worker}, the innermost first; any key: back "));
    frame.render_widget(Clear, area);
    let room = usize::from(area.height.saturating_sub(2));
    frame.render_widget(Paragraph::new(lines(looked, room)).block(block), area);
}

/// The lines of a stack, limited to `room` lines.
fn lines(looked: Option<&ObservedWorker>, room: usize) -> Vec<Line<'static>> {
    let Some(ObservedWorker { pid, request, .. }) = looked else { return vec![Line::raw("reading the stack")] };
    let Some(request) = request else { return vec![Line::raw(format!("pid {pid} has no request"))] };
    let ObservedRequest { method, host, target, took_ms, frames } = request;
    let first = format!("pid {pid}  for {}  {method} {host}{target}", took(took_ms * 1000));
    let mut lines = vec![first];
    match frames {
        None => lines.push("the stack changes faster than it can be read".to_owned()),
        Some(frames) if frames.is_empty() => lines.push("the worker is not in Perl code".to_owned()),
        Some(frames) => lines.extend(frames.iter().map(ToString::to_string)),
    }
    let left = lines.len().saturating_sub(room);
    if left > 0 {
        lines.truncate(room.saturating_sub(1));
        lines.push(format!("… {} more", left + 1));
    }
    lines.into_iter().map(|line| Line::raw(printable::line(&line))).collect()
}
