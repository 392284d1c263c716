//! State of `top`: receives keys and statuses, returns requested actions. Independent of terminal and server.

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::widgets::TableState;

use super::tables::{TableLine, TableName};
use profiler::ObservedWorker;
use status::history::{Recorder, Second};
use status::{ServerStatus, Usages};

/// Number of seconds stored for the sparklines.
const REMEMBERED: usize = 240;

/// State of `top`.
#[derive(Debug, Default)]
pub struct Watched {
    pub status: ServerStatus,
    /// CPU and memory of its workers, from the kernel.
    pub usages: Usages,
    /// History of the last seconds.
    pub seconds: VecDeque<Second>,
    pub table: TableName,
    /// Index of the column that the table is sorted by.
    pub sort: usize,
    /// Whether the order is reversed.
    pub reversed: bool,
    /// Filter: only lines that contain this text, ignoring case, are shown.
    pub filter: String,
    /// Mode, which determines the meaning of keys.
    pub mode: KeyMode,
    /// The selected line.
    pub chosen: TableState,
    /// Message in the footer: a result or an error.
    pub message: String,
    /// The request and stack of the inspected worker.
    pub looked: Option<ObservedWorker>,
    recorder: Recorder,
    is_paused: bool,
}

/// Modes, which determine the meaning of keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyMode {
    /// Select and sort.
    #[default]
    Look,
    Filter,
    Help,
    /// Ask whether to recycle this worker.
    Confirm(u32),
    /// Show the Perl stack of this worker.
    Stack(u32),
}

/// Action requested by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// End the program.
    Quit,
    /// Recycle this worker.
    Recycle(u32),
    /// Read the Perl stack of this worker.
    Look(u32),
}

impl Watched {
    /// Stores a status. While paused, only the counts for the next second are updated.
    pub fn takes(&mut self, time: u32, status: ServerStatus, usages: Usages) {
        let second = self.recorder.second(time, &status);
        if self.is_paused {
            return;
        }
        (self.status, self.usages) = (status, usages);
        self.seconds.push_back(second);
        if self.seconds.len() > REMEMBERED {
            self.seconds.pop_front();
        }
    }

    pub fn show_message(&mut self, what: String) {
        self.message = what;
    }

    /// Whether the display is paused.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// The lines of the current table, filtered and sorted.
    pub fn lines(&self) -> Vec<TableLine> {
        let mut lines = self.table.lines(&self.status, &self.usages);
        let filter = self.filter.to_lowercase();
        lines.retain(|line| line.cells.iter().any(|cell| cell.text.to_lowercase().contains(&filter)));
        let order = |a: &TableLine, b: &TableLine| a.order_by(b, self.sort);
        lines.sort_by(|a, b| if self.reversed { order(b, a) } else { order(a, b) });
        lines
    }

    pub fn press(&mut self, key: KeyEvent) -> Option<Wish> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Some(Wish::Quit);
        }
        match self.mode {
            KeyMode::Look => return self.look(key.code),
            KeyMode::Filter => self.write(key.code),
            KeyMode::Help | KeyMode::Stack(_) => self.mode = KeyMode::Look,
            KeyMode::Confirm(worker) => {
                self.mode = KeyMode::Look;
                return (key.code == KeyCode::Char('y')).then_some(Wish::Recycle(worker));
            }
        }
        None
    }

    fn look(&mut self, code: KeyCode) -> Option<Wish> {
        self.message.clear();
        match code {
            KeyCode::Char('q') | KeyCode::Esc => return Some(Wish::Quit),
            KeyCode::Char('?' | 'h') => self.mode = KeyMode::Help,
            KeyCode::Char('/') => self.mode = KeyMode::Filter,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('s') | KeyCode::Right => self.sort = (self.sort + 1) % self.table.columns().len(),
            KeyCode::Left => self.sort = self.sort.checked_sub(1).unwrap_or(self.table.columns().len() - 1),
            KeyCode::Char('r') => self.reversed = !self.reversed,
            KeyCode::Tab => self.turn(),
            KeyCode::Down | KeyCode::Char('j') => self.chosen.select_next(),
            KeyCode::Up | KeyCode::Char('k') => self.chosen.select_previous(),
            KeyCode::Char('x') => self.mode = KeyMode::Confirm(self.chosen_worker()?),
            KeyCode::Char('t') => {
                let worker = self.chosen_worker()?;
                (self.mode, self.looked) = (KeyMode::Stack(worker), None);
                return Some(Wish::Look(worker));
            }
            _ => {}
        }
        None
    }

    /// Switches to the other table, sorted by its first column.
    fn turn(&mut self) {
        self.table = self.table.other();
        (self.sort, self.reversed) = (0, false);
        self.chosen.select(None);
    }

    fn write(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char(c) => self.filter.push(c),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Esc => {
                self.filter.clear();
                self.mode = KeyMode::Look;
            }
            KeyCode::Enter => self.mode = KeyMode::Look,
            _ => {}
        }
    }

    /// The worker of the selected line. Without one, shows a message.
    fn chosen_worker(&mut self) -> Option<u32> {
        let chosen = self.chosen.selected().and_then(|at| self.lines().get(at)?.worker);
        if chosen.is_none() {
            self.message = "choose a worker first, by the arrow keys".to_owned();
        }
        chosen
    }

    /// Stores the stack of the inspected worker; an error closes the view.
    pub fn has_looked(&mut self, looked: Result<ObservedWorker, String>) {
        match looked {
            Ok(looked) => self.looked = Some(looked),
            Err(error) => (self.mode, self.message) = (KeyMode::Look, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::control::{FrontStatus, WorkerActivity, WorkerStatus};

    fn watched() -> Watched {
        let worker = |slot, requests, request: &str| WorkerStatus {
            slot,
            requests,
            request: request.to_owned(),
            activity: WorkerActivity::Working,
            ..WorkerStatus::default()
        };
        let workers = vec![worker(0, 7, "GET /a"), worker(1, 900, "GET /b"), worker(2, 80, "GET /ab")];
        let front = Some(FrontStatus { workers, ..FrontStatus::default() });
        let mut watched = Watched::default();
        watched.takes(1, ServerStatus { front, ..ServerStatus::default() }, Usages::default());
        watched
    }

    fn press(watched: &mut Watched, keys: &str) -> Option<Wish> {
        keys.chars().map(|key| watched.press(KeyCode::Char(key).into())).last().flatten()
    }

    fn workers(watched: &Watched) -> Vec<Option<u32>> {
        watched.lines().iter().map(|line| line.worker).collect()
    }

    #[test]
    fn keys_sort_and_filter() {
        let mut watched = watched();
        assert_eq!(workers(&watched), [Some(0), Some(1), Some(2)]);
        let requests = watched.table.columns().iter().position(|column| column.name == "requests").expect("a column");
        press(&mut watched, &"s".repeat(requests));
        assert_eq!(workers(&watched), [Some(1), Some(2), Some(0)], "the most first");
        press(&mut watched, "r");
        assert_eq!(workers(&watched), [Some(0), Some(2), Some(1)]);
        press(&mut watched, "//a");
        watched.press(KeyCode::Enter.into());
        assert_eq!(workers(&watched), [Some(0), Some(2)]);
        press(&mut watched, "/");
        watched.press(KeyCode::Esc.into());
        assert_eq!(workers(&watched).len(), 3);
    }

    #[test]
    fn a_worker_is_recycled_only_after_confirmation() {
        let mut watched = watched();
        assert_eq!(press(&mut watched, "x"), None);
        assert!(watched.message.contains("choose a worker first"));
        assert_eq!(press(&mut watched, "jjxn"), None);
        assert_eq!(press(&mut watched, "xy"), Some(Wish::Recycle(1)));
        assert_eq!(press(&mut watched, "q"), Some(Wish::Quit));
    }

    #[test]
    fn a_worker_is_looked_at_until_a_key_is_pressed() {
        let mut watched = watched();
        assert_eq!((press(&mut watched, "t"), watched.mode), (None, KeyMode::Look));
        assert!(watched.message.contains("choose a worker first"));
        assert_eq!((press(&mut watched, "jjt"), watched.mode), (Some(Wish::Look(1)), KeyMode::Stack(1)));
        assert_eq!((press(&mut watched, "q"), watched.mode), (None, KeyMode::Look));
        press(&mut watched, "t");
        watched.has_looked(Err("it is gone".to_owned()));
        assert_eq!((watched.mode, watched.message.as_str()), (KeyMode::Look, "it is gone"));
    }

    #[test]
    fn a_paused_display_does_not_change() {
        let mut watched = watched();
        press(&mut watched, " ");
        watched.takes(2, ServerStatus::default(), Usages::default());
        assert_eq!(workers(&watched).len(), 3);
        press(&mut watched, " ");
        watched.takes(3, ServerStatus::default(), Usages::default());
        assert!(workers(&watched).is_empty());
    }
}
