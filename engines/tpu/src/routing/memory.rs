//! Estimates the memory of routes before any route is computed.

use super::RoutingSettings;
use super::frame::Frame;
use super::path::LONGER;
use crate::plan::Route;
use lightbay_core::problem::Problem;

/// Overhead in bytes of a block on the heap.
const HEAP_BYTES: u64 = 16;

/// Estimated memory for the routing of a pod, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of the distances of all states from all sources.
    pub distance_bytes: u64,
    /// Bytes of the routes during the selection: the current and the best selection.
    pub selection_bytes: u64,
    /// Bytes of the routes in their final form.
    pub route_bytes: u64,
}

impl Estimate {
    /// Estimates the memory for routes of at most `longest` hops from `sources` to all other nodes.
    pub fn new(sources: u64, nodes: u64, vcs: u64, longest: u64) -> Self {
        let routes = sources * nodes;
        let stride = longest + u64::from(LONGER);
        Self {
            // The distance of each state takes two bytes.
            distance_bytes: 2 * sources * 6 * nodes * vcs.next_power_of_two(),
            // The current and the best selection, with space for longer routes.
            selection_bytes: 2 * routes * (stride + 2),
            route_bytes: routes
                * (size_of::<Route>() as u64 + 2 * (HEAP_BYTES + longest.next_multiple_of(8))),
        }
    }

    /// Total bytes.
    pub const fn total_bytes(&self) -> u64 {
        self.distance_bytes + self.selection_bytes + self.route_bytes
    }

    /// # Errors
    /// The estimate exceeds the limit; the problem contains the remedy.
    pub fn within(&self, limit_bytes: u64, remedy: &str) -> Result<(), Problem> {
        if self.total_bytes() <= limit_bytes {
            return Ok(());
        }
        Err(Problem::new(
            "routing",
            format!(
                "would take {} of memory, but {} are allowed",
                words(self.total_bytes()),
                words(limit_bytes)
            ),
            remedy,
        ))
    }
}

/// Formats a number of bytes for people, for example as `3.2 GB`.
fn words(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        ..1e6 => format!("{:.1} kB", bytes / 1e3),
        ..1e9 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} GB", bytes / 1e9),
    }
}

/// Refuses to route a pod if this would take more memory than the settings allow.
///
/// # Errors
/// The memory needed, with a remedy.
pub fn check(frame: &Frame, settings: &RoutingSettings) -> Result<(), Problem> {
    let remedy = if frame.is_symmetric() {
        "route a smaller pod"
    } else {
        "route a symmetric pod, which needs the routes of 64 sources only, or a smaller pod"
    };
    of(frame, settings).within(settings.memory_limit_bytes, remedy)
}

/// Estimate for a pod and settings. The longest route is not known yet; its length is estimated as the distance from
/// chip 0 to the farthest chip, plus the slack.
pub fn of(frame: &Frame, settings: &RoutingSettings) -> Estimate {
    let longest = u64::from(farthest(frame)) + u64::from(settings.slack_hops);
    Estimate::new(frame.sources() as u64, frame.nodes() as u64, u64::from(settings.vc_count), longest)
}

/// Hops from chip 0 to the chip farthest from it.
fn farthest(frame: &Frame) -> u32 {
    // Breadth-first search: the last node is a farthest one.
    let mut hops = vec![u32::MAX; frame.nodes()];
    hops[0] = 0;
    let mut queue = vec![0u32];
    let mut at = 0;
    while at < queue.len() {
        let node = queue[at];
        at += 1;
        for port in 0..6 {
            let next = frame.head(Frame::arc(node, port));
            if hops[next as usize] == u32::MAX {
                hops[next as usize] = hops[node as usize] + 1;
                queue.push(next);
            }
        }
    }
    queue.last().map_or(0, |node| hops[*node as usize])
}

#[cfg(test)]
mod tests;
