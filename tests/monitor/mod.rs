//! What a running server tells of itself, and in which views.

/// One snapshot: workers, why they ended, reloads.
mod status;
