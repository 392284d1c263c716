//! The tables: workers, and slow requests.

use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use wire::control::{SlowRequest, WorkerStatus};

use base::printable;
use status::{ServerStatus, Usage, Usages};
use toolkit::units::{duration, size};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TableName {
    #[default]
    Workers,
    Slow,
}

#[derive(Debug)]
pub struct TableColumn {
    pub name: &'static str,
    /// Width in characters; 0 for the remaining width.
    pub width: u16,
    /// Left-aligned for words, otherwise right-aligned for numbers.
    pub has_words: bool,
    /// Left out of narrow terminals.
    pub is_minor: bool,
}

#[derive(Debug)]
pub struct TableLine {
    /// Cells in the order of the columns.
    pub cells: Vec<Cell>,
    /// Slot of the worker that the line concerns.
    pub worker: Option<u32>,
}

/// A cell: displayed text and sort key.
#[derive(Debug)]
pub struct Cell {
    /// Displayed text, without terminal control characters.
    pub text: String,
    /// Sort key, ascending in display order.
    key: Key,
}

#[derive(Debug, PartialEq)]
enum Key {
    /// Sorted alphabetically by the displayed text.
    Text,
    /// Sorted by this number, ascending.
    Place(u64),
    /// Descending by number: large amounts are of most interest.
    Amount(u64),
}

const fn numbers(name: &'static str, width: u16) -> TableColumn {
    TableColumn { name, width, has_words: false, is_minor: false }
}

const fn words(name: &'static str, width: u16) -> TableColumn {
    TableColumn { name, width, has_words: true, is_minor: false }
}

/// The client's address; an IPv6 address is cut.
const CLIENT: TableColumn = TableColumn { name: "client", width: 15, has_words: true, is_minor: true };

const WORKERS: [TableColumn; 10] = [
    numbers("worker", 7),
    words("state", 11),
    numbers("since", 7),
    numbers("pid", 8),
    numbers("requests", 9),
    numbers("private", 8),
    numbers("cpu", 7),
    numbers("waited", 8),
    CLIENT,
    words("request", 0),
];

const SLOW: [TableColumn; 7] = [
    numbers("took", 9),
    numbers("waited", 9),
    numbers("worked", 9),
    numbers("status", 6),
    numbers("ago", 7),
    CLIENT,
    words("request", 0),
];

impl TableName {
    pub fn columns(self) -> &'static [TableColumn] {
        match self {
            TableName::Workers => &WORKERS,
            TableName::Slow => &SLOW,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            TableName::Workers => "workers",
            TableName::Slow => "slowest requests of the last five minutes, each path once",
        }
    }

    /// The table that Tab switches to.
    pub fn other(self) -> TableName {
        match self {
            TableName::Workers => TableName::Slow,
            TableName::Slow => TableName::Workers,
        }
    }

    pub fn lines(self, status: &ServerStatus, usages: &Usages) -> Vec<TableLine> {
        match (self, &status.front) {
            (_, None) => Vec::new(),
            (TableName::Workers, Some(front)) => {
                front.workers.iter().map(|it| worker(it, usages.get(it.pid))).collect()
            }
            (TableName::Slow, Some(front)) => front.slowest.iter().map(slow).collect(),
        }
    }
}

impl TableLine {
    /// Compares two lines by a column.
    pub fn order_by(&self, other: &TableLine, column: usize) -> Ordering {
        match (self.cells.get(column), other.cells.get(column)) {
            (Some(one), Some(other)) => one.order(other),
            _ => Ordering::Equal,
        }
    }
}

impl Cell {
    fn order(&self, other: &Cell) -> Ordering {
        match (&self.key, &other.key) {
            (Key::Place(one), Key::Place(other)) => one.cmp(other),
            (Key::Amount(one), Key::Amount(other)) => other.cmp(one),
            _ => self.text.cmp(&other.text),
        }
    }
}

fn text(text: &str) -> Cell {
    Cell { text: printable::lines(text).replace('\n', "\\n"), key: Key::Text }
}

fn amount(amount: u64, shown: String) -> Cell {
    Cell { text: shown, key: Key::Amount(amount) }
}

fn worker(w: &WorkerStatus, usage: Usage) -> TableLine {
    let waited = w.queue_wait_us.map_or_else(|| "-".to_owned(), took);
    let request = if w.request.is_empty() { &w.last_request } else { &w.request };
    let pool = if w.pool.is_empty() { String::new() } else { format!("[{}] ", w.pool) };
    let named = format!("{} {request}", w.host);
    let shown = if w.request.is_empty() && !request.is_empty() { format!("({})", named.trim()) } else { named };
    TableLine {
        worker: Some(w.slot),
        cells: vec![
            Cell { text: w.slot.to_string(), key: Key::Place(u64::from(w.slot)) },
            text(&format!("{} {}", w.activity.sign(), w.activity.word())),
            amount(w.since_ms, duration(w.since_ms)),
            Cell { text: w.pid.to_string(), key: Key::Place(u64::from(w.pid.unsigned_abs())) },
            amount(w.requests, w.requests.to_string()),
            amount(usage.private_bytes.unwrap_or(0), usage.private_bytes.map_or_else(|| "-".to_owned(), size)),
            amount(usage.cpu_ms.unwrap_or(0), usage.cpu_ms.map_or_else(|| "-".to_owned(), duration)),
            amount(w.queue_wait_us.unwrap_or(0), waited),
            text(&w.client),
            text(&format!("{pool}{}", shown.trim())),
        ],
    }
}

fn slow(r: &SlowRequest) -> TableLine {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let ago = now.saturating_sub(r.ended_s);
    TableLine {
        worker: Some(r.worker),
        cells: vec![
            amount(r.took_us(), took(r.took_us())),
            amount(r.waited_us, took(r.waited_us)),
            amount(r.served_us, took(r.served_us)),
            Cell { text: r.status.to_string(), key: Key::Place(u64::from(r.status)) },
            Cell { text: duration(ago.saturating_mul(1000)), key: Key::Place(ago) },
            text(&r.client),
            text(format!("{} {}", r.host, r.request).trim()),
        ],
    }
}

/// Formats a time: `850 µs`, `12.3 ms`, `2.50 s`.
pub fn took(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}
