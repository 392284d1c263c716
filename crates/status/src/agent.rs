//! HAProxy's agent check: one line with the state of the server and its weight (HAProxy's manual, `agent-check`).

use wire::control::{NodeState, NodeStatus, WorkerState};

use super::ServerStatus;
use super::health::Checked;

/// Time for which the line has the word `ready` after the server has become ready, in milliseconds.
const READY_MS: u64 = 60_000;
/// Part of the weight with which a slow start begins, in percent.
const FIRST: u64 = 10;

/// Decides whether the line has the word `ready`, which ends the `drain` or `maint` of an earlier line, also of the
/// server's previous run: from the begin of the node's state until a minute after the server became ready in it. In
/// every line the word would undo what an administrator sets in HAProxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadyWord {
    /// `uptime_ms` of the status.
    at: u64,
    /// `uptime_ms` when the server became ready in its present state.
    since: Option<u64>,
}

impl ReadyWord {
    /// The decision for a status; `before` is that for the previous one. A monitor that finds a ready server counts
    /// from the begin of the state.
    pub fn next(before: Option<ReadyWord>, now: &ServerStatus, is_ready: bool) -> ReadyWord {
        let (at, entered) = (now.uptime_ms, now.uptime_ms.saturating_sub(now.node.state_ms));
        let since = match before {
            Some(before) if entered <= before.at => before.since,
            Some(_) => None,
            None => is_ready.then_some(entered),
        };
        ReadyWord { at, since: since.or_else(|| is_ready.then_some(at)) }
    }

    /// Whether the line has the word.
    pub fn is_sent(self) -> bool {
        self.since.is_none_or(|since| self.at.saturating_sub(since) < READY_MS)
    }
}

/// The line, without its end.
pub fn line(node: &NodeStatus, ready: &Checked, weight: u32, word: ReadyWord) -> String {
    let text = match node.state {
        NodeState::Draining => return "drain".to_owned(),
        NodeState::Maintenance => return "maint".to_owned(),
        NodeState::Ready if ready.is_err() => down(ready),
        NodeState::Ready => format!("up {weight}%"),
    };
    if word.is_sent() { format!("ready {text}") } else { text }
}

/// `down`, with the reason for HAProxy's log.
fn down(ready: &Checked) -> String {
    let why = ready.as_ref().err().map_or("", String::as_str);
    // Words before `#` would be commands.
    let why: String = why.chars().map(|c| if c.is_ascii_graphic() { c } else { ' ' }).take(200).collect();
    format!("down #{why}")
}

/// Weight of the server in percent, from 1 to 100: the free part of all workers since the last status, less where
/// requests wait, and less during a slow start. `before` is the previous status.
pub fn weight(before: Option<&ServerStatus>, now: &ServerStatus) -> u32 {
    let free = 1.0 - utilization(before, now).min(1.0);
    let most = f64::from(now.max_clients.max(1));
    let queued = now.front.as_ref().map_or(0, |front| front.queued);
    let percent = free * 100.0 / (1.0 + f64::from(queued) / most);
    // The cast saturates, and the value is at most 100.
    let percent = percent as u64 * slow_start(&now.node) / 100;
    u32::try_from(percent.clamp(1, 100)).unwrap_or(100)
}

/// Part of all workers that had a request since the previous status; where that is unknown, at this moment. 1 is all.
fn utilization(before: Option<&ServerStatus>, now: &ServerStatus) -> f64 {
    let most = f64::from(now.max_clients.max(1));
    let Some(front) = &now.front else { return 1.0 };
    let earlier = before.filter(|before| before.generation == now.generation);
    let earlier = earlier.and_then(|before| Some((before.uptime_ms, before.front.as_ref()?)));
    let earlier =
        earlier.filter(|(uptime_ms, before)| before.started_s == front.started_s && *uptime_ms < now.uptime_ms);
    match earlier {
        Some((uptime_ms, before)) => {
            let worked = front.worked_us.saturating_sub(before.worked_us) as f64;
            worked / ((now.uptime_ms - uptime_ms) as f64 * 1000.0 * most)
        }
        None => {
            f64::from(front.workers.iter().filter(|worker| worker.state == WorkerState::Busy).count() as u32) / most
        }
    }
}

/// Part of the weight that `SlowStart` leaves, in percent: it climbs from 10 to 100.
pub fn slow_start(node: &NodeStatus) -> u64 {
    let elapsed = node.serving_ms.min(node.state_ms);
    match node.slow_start_ms {
        0 => 100,
        time => elapsed.saturating_mul(100).checked_div(time).unwrap_or(100).clamp(FIRST, 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::control::{FrontStatus, WorkerStatus};

    fn status(uptime_ms: u64, worked_us: u64, queued: u32) -> ServerStatus {
        let front = FrontStatus { worked_us, queued, ..FrontStatus::default() };
        ServerStatus { uptime_ms, max_clients: 4, generation: 1, front: Some(front), ..ServerStatus::default() }
    }

    #[test]
    fn a_line_has_one_state_and_the_weight() {
        let line = |state, since, ready: &Checked| {
            let node = NodeStatus { state, ..NodeStatus::default() };
            line(&node, ready, 75, ReadyWord { at: READY_MS, since })
        };
        let failed = Err("no worker\nis ready 100%".to_owned());
        assert_eq!(line(NodeState::Ready, Some(1), &Ok(())), "ready up 75%");
        assert_eq!(line(NodeState::Ready, Some(0), &Ok(())), "up 75%");
        assert_eq!(line(NodeState::Ready, Some(0), &failed), "down #no worker is ready 100%");
        assert_eq!(line(NodeState::Ready, None, &failed), "ready down #no worker is ready 100%");
        assert_eq!(line(NodeState::Draining, None, &failed), "drain");
        assert_eq!(line(NodeState::Maintenance, None, &Ok(())), "maint");
        assert_eq!(line(NodeState::Ready, Some(0), &Err("x".repeat(9999))).len(), "down #".len() + 200);
    }

    #[test]
    fn the_word_ready_lasts_for_a_minute_after_the_server_became_ready() {
        let status = |uptime_ms, state_ms| ServerStatus {
            node: NodeStatus { state_ms, ..NodeStatus::default() },
            ..status(uptime_ms, 0, 0)
        };
        let mut word = ReadyWord::next(None, &status(10, 10), false);
        let mut is_sent = |uptime_ms, state_ms, is_ready| {
            word = ReadyWord::next(Some(word), &status(uptime_ms, state_ms), is_ready);
            word.is_sent()
        };
        assert!(is_sent(9 * READY_MS, 9 * READY_MS, false), "a slow start");
        assert!(is_sent(10 * READY_MS, 10 * READY_MS, true));
        assert!(is_sent(11 * READY_MS - 1, 11 * READY_MS - 1, true));
        assert!(!is_sent(11 * READY_MS, 11 * READY_MS, true));
        assert!(!is_sent(12 * READY_MS, 12 * READY_MS, false), "a failure in the same state");
        assert!(is_sent(13 * READY_MS, 5, true), "a drain was cancelled");
        assert!(!is_sent(14 * READY_MS, READY_MS + 5, true));
        let found = ReadyWord::next(None, &status(READY_MS * 2, READY_MS * 2), true);
        assert!(!found.is_sent(), "another monitor");
    }

    #[test]
    fn the_weight_is_the_free_part_of_the_workers() {
        let before = status(1000, 0, 0);
        let weight = |worked_us, queued| super::weight(Some(&before), &status(2000, worked_us, queued));
        assert_eq!((weight(0, 0), weight(1_000_000, 0), weight(2_000_000, 0)), (100, 75, 50));
        assert_eq!((weight(4_000_000, 0), weight(u64::MAX, 0), weight(2_000_000, 4)), (1, 1, 25));
        assert_eq!(super::weight(Some(&before), &ServerStatus { front: None, ..status(2000, 0, 0) }), 1);
        let mut first = status(5, 9_000_000, 0);
        let busy = WorkerStatus { state: WorkerState::Busy, ..WorkerStatus::default() };
        first.front.as_mut().expect("a front").workers = vec![busy];
        assert_eq!((super::weight(None, &first), super::weight(Some(&before), &first)), (75, 75));
    }

    #[test]
    fn the_weight_of_new_code_climbs() {
        let at = |serving_ms, state_ms| {
            slow_start(&NodeStatus { serving_ms, state_ms, slow_start_ms: 10_000, ..NodeStatus::default() })
        };
        assert_eq!((at(0, u64::MAX), at(5000, 9000), at(9000, 5000), at(20_000, 20_000)), (10, 50, 50, 100));
        assert_eq!(slow_start(&NodeStatus::default()), 100);
    }
}
