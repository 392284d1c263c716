//! Drawing: a summary of the server, sparklines of the last minutes, a table, and the keys.

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Borders, Cell, Clear, Paragraph, Row, Sparkline, Table};
use wire::control::ServerCounts;
use wire::fcgid::ProgramProcessState;

use super::stack;
use super::tables::{TableColumn, took};
use super::watched::{KeyMode, Watched};
use base::printable;
use status::ServerStatus;
use status::history::Second;
use toolkit::units::{duration, size};

/// Width in characters from which the table has its minor columns.
const WIDE: u16 = 100;

const HELP: &str = "\
 arrows  choose a line              s, ← →  sort by another column
 Tab     workers, slow requests     r       reverse the order
 t       look at the worker: its    /       show only lines with a text;
         Perl stack now                     Esc: all of them
 x       recycle the worker: it     space   pause, continue
         exits after its request    q       end
 ?       this

 state   S starting  _ idle  W busy  L logging  G finishing  I leaving
 waited  time that the request waited for the worker
 private memory not shared with other processes";

/// Selects the value of a second for a sparkline.
type Drawn = fn(&Second) -> u64;

pub fn draw(frame: &mut Frame, watched: &mut Watched) {
    let [head, lines, table, foot] =
        Layout::vertical([Constraint::Length(5), Constraint::Length(3), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(summary(watched)), head);
    sparklines(frame, lines, &watched.seconds);
    rows(frame, table, watched);
    frame.render_widget(Paragraph::new(footer(watched)), foot);
    match watched.mode {
        KeyMode::Help => help(frame),
        KeyMode::Stack(worker) => stack::draw(frame, worker, watched.looked.as_ref()),
        _ => {}
    }
}

fn summary(watched: &Watched) -> Text<'static> {
    let status = &watched.status;
    let second = watched.seconds.back().copied().unwrap_or_default();
    let origin = printable::line(&status.origin);
    let up = duration(status.uptime_ms.max(1));
    let first =
        format!("cameleer {}  pid {}  up {up}  generation {}  {origin}", status.version, status.pid, status.generation);
    if status.front.is_none() {
        return Text::from(vec![Line::styled(first, bold()), Line::raw("the front does not answer")]);
    }
    let requests = format!(
        "requests {}/s   2xx {}  3xx {}  4xx {}  5xx {}   shed {}/s",
        second.requests(),
        second.ok,
        second.redirects,
        second.client_errors,
        second.server_errors,
        second.shed
    );
    let times = [second.p50_us, second.p90_us, second.p99_us, second.queue_p99_us].map(|us| took(u64::from(us)));
    let [p50, p90, p99, queue] = times;
    let times = format!("latency  p50 {p50}  p90 {p90}  p99 {p99}   queue {}  p99 {queue}", second.queued);
    Text::from(vec![
        Line::styled(first, bold()),
        Line::raw(requests),
        Line::raw(times),
        workers(watched, &second),
        ended(&status.counts),
    ])
}

fn workers(watched: &Watched, second: &Second) -> Line<'static> {
    let memory = &watched.status.memory;
    let held = watched.status.front.as_ref().map_or(0, |front| front.broadcast.held());
    let held = if held > 0 { format!(" ({held} held)") } else { String::new() };
    let budget = memory.budget.map(|budget| format!(" of {}", size(budget))).unwrap_or_default();
    Line::raw(format!(
        "workers  {} of {}: {} busy, {} idle   {} connections{held}   memory {}{budget}{}",
        watched.status.workers().len(),
        watched.status.max_clients,
        second.busy,
        second.idle,
        second.connections,
        size(memory.used.unwrap_or_else(|| memory.pss())),
        pools(&watched.status)
    ))
}

/// Pools, if there are several.
fn pools(status: &ServerStatus) -> String {
    let all = status.front.iter().flat_map(|front| &front.pools);
    all.map(|pool| {
        format!("   {} {} of {} busy, {} queued", printable::line(&pool.name), pool.busy, pool.most, pool.queued)
    })
    .chain(programs(status))
    .collect()
}

/// The processes of FastCGI programs, if there are any.
fn programs(status: &ServerStatus) -> Option<String> {
    let all = || status.programs.iter().map(|it| &it.program);
    let count: usize = all().map(|program| program.processes.len()).sum();
    let busy: usize = all().map(|program| program.count(ProgramProcessState::Busy)).sum();
    let waiting: u32 = all().map(|program| program.waiting).sum();
    let longest = all().flat_map(|program| &program.processes).filter_map(|it| Some((it.busy_ms?, it.pid))).max();
    let longest = longest.map_or_else(String::new, |(ms, pid)| format!(", pid {pid} for {}", duration(ms)));
    all().next().map(|_| format!("   FastCGI {busy} of {count} processes busy{longest}, {waiting} queued"))
}

fn ended(counts: &ServerCounts) -> Line<'static> {
    let ends: Vec<_> = counts.exits.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
    let ends = if ends.is_empty() { "none".to_owned() } else { ends.join(", ") };
    Line::raw(format!("ended    {ends}   reloads {} ok, {} failed", counts.reloads, counts.failed_reloads))
}

/// Sparklines of the last minutes, the newest second at the right.
fn sparklines(frame: &mut Frame, area: Rect, seconds: &VecDeque<Second>) {
    let areas: [Rect; 3] = Layout::horizontal([Constraint::Fill(1); 3]).spacing(2).areas(area);
    let drawn: [(&str, Drawn); 3] = [
        ("requests/s", |second| u64::from(second.requests())),
        ("p99", |second| u64::from(second.p99_us)),
        ("busy workers", |second| u64::from(second.busy)),
    ];
    for (area, (title, value)) in areas.into_iter().zip(drawn) {
        let width = usize::from(area.width);
        let data: Vec<u64> = seconds.iter().rev().take(width).rev().map(value).collect();
        let block = Block::new().borders(Borders::TOP).title(title);
        frame.render_widget(Sparkline::default().block(block).data(data), area);
    }
}

fn rows(frame: &mut Frame, area: Rect, watched: &mut Watched) {
    let is_wide = area.width >= WIDE;
    let columns = || watched.table.columns().iter().enumerate().filter(move |(_, column)| is_wide || !column.is_minor);
    let widths: Vec<Constraint> = columns()
        .map(|(_, column)| match column.width {
            0 => Constraint::Fill(1),
            width => Constraint::Length(width),
        })
        .collect();
    let head = columns().map(|(at, column)| {
        let arrow = if at == watched.sort { if watched.reversed { "↑" } else { "↓" } } else { "" };
        cell(&format!("{}{arrow}", column.name), column)
    });
    let lines = watched.lines();
    let rows: Vec<Row<'_>> = lines
        .iter()
        .map(|line| Row::new(columns().filter_map(|(at, column)| Some(cell(&line.cells.get(at)?.text, column)))))
        .collect();
    let filter = if watched.filter.is_empty() {
        String::new()
    } else {
        format!(" with \"{}\"", printable::line(&watched.filter))
    };
    let title = format!("{}{filter}, {} lines", watched.table.title(), lines.len());
    let head = Row::new(head.collect::<Vec<_>>()).style(bold());
    let table = Table::new(rows, widths)
        .header(head)
        .block(Block::new().borders(Borders::TOP).title(title))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(table, area, &mut watched.chosen);
}

fn cell(text: &str, column: &TableColumn) -> Cell<'static> {
    let line = Line::from(text.to_owned());
    Cell::from(if column.has_words { line } else { line.right_aligned() })
}

fn footer(watched: &Watched) -> Line<'static> {
    match watched.mode {
        KeyMode::Filter => {
            Line::raw(format!("filter: {}_   Enter: apply it  Esc: show all", printable::line(&watched.filter)))
        }
        KeyMode::Confirm(worker) => Line::styled(format!("recycle worker {worker}? y: yes, any other key: no"), bold()),
        _ if !watched.message.is_empty() => Line::styled(printable::line(&watched.message), bold()),
        _ if watched.is_paused() => Line::styled("paused; space continues", bold()),
        _ => Line::raw("q end  ? help  Tab table  s sort  r reverse  / filter  t stack  x recycle  space pause"),
    }
}

fn help(frame: &mut Frame) {
    let (width, height) = (74, 14);
    let area = frame.area();
    let [area] = Layout::vertical([Constraint::Length(height)]).flex(ratatui::layout::Flex::Center).areas(area);
    let [area] = Layout::horizontal([Constraint::Length(width)]).flex(ratatui::layout::Flex::Center).areas(area);
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(HELP).block(Block::bordered().title(" keys ")), area);
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}
