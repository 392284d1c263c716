//! What a running server tells of itself, and in which views.

/// Who may see it, and what becomes of those who misuse it.
mod admin;

/// A browser.
mod browser;

/// What a browser shows.
mod dashboard;

/// Seconds that were kept.
mod history;

/// A terminal.
mod top;

/// One snapshot: workers, why they ended, reloads.
mod status;
