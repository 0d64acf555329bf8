//! Timelines in the Trace Event Format, as JSON: `ui.perfetto.dev` and `chrome://tracing` read it.
//!
//! Slices of one thread must be nested or disjoint, so the caller puts everything that runs in parallel into different
//! threads. Times are stored in whole nanoseconds, the unit of the viewers, so that adjacent slices do not overlap
//! because of rounding.

use crate::value::Value;
use lightbay_core::json::{self, WriteError};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

/// A timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Groups of rows.
    pub processes: Vec<Process>,
    /// Events in the rows, each with start and end.
    pub slices: Vec<Slice>,
    /// Metadata of the whole file, by name.
    pub about: Vec<(String, Value)>,
}

/// A group of rows, numbered from 1 in the order of [`Trace::processes`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Name of the group.
    pub name: String,
    /// Names of the group's rows, numbered from 1.
    pub threads: Vec<String>,
}

/// An event with a duration.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Index of the group.
    pub process: usize,
    /// Index of the row in the group.
    pub thread: usize,
    /// Name of the event.
    pub name: String,
    /// Category, by which viewers filter and colour.
    pub category: &'static str,
    /// Start of the event, seconds.
    pub start_s: f64,
    /// End of the event, seconds.
    pub end_s: f64,
    /// Other attributes, by name with unit.
    pub args: Vec<(&'static str, Value)>,
}

/// Serialises named values as one JSON object.
struct Named<'v, N>(&'v [(N, Value)]);

impl<N: AsRef<str>> Serialize for Named<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name.as_ref(), value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Complete<'s> {
    name: &'s str,
    cat: &'s str,
    ph: char,
    ts: f64,
    dur: f64,
    pid: usize,
    tid: usize,
    args: Named<'s, &'static str>,
}

#[derive(Serialize)]
struct Metadata<'s> {
    name: &'s str,
    ph: char,
    pid: usize,
    tid: usize,
    args: Named<'s, &'static str>,
}

/// Converts a time to whole nanoseconds.
fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

fn microseconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// Writes the timeline, one event per line.
///
/// # Errors
/// A number that JSON cannot represent.
pub fn write(trace: &Trace) -> Result<String, WriteError> {
    let mut lines = Vec::new();
    let named = |what: &'static str, pid: usize, tid: usize, key: &'static str, value: Value| {
        let args = [(key, value)];
        json::to_line(&Metadata { name: what, ph: 'M', pid, tid, args: Named(&args) })
    };
    for (index, process) in trace.processes.iter().enumerate() {
        let pid = index + 1;
        lines.push(named("process_name", pid, 0, "name", process.name.clone().into())?);
        lines.push(named("process_sort_index", pid, 0, "sort_index", Value::Int(pid as i64))?);
        for (index, name) in process.threads.iter().enumerate() {
            let tid = index + 1;
            lines.push(named("thread_name", pid, tid, "name", name.clone().into())?);
            lines.push(named("thread_sort_index", pid, tid, "sort_index", Value::Int(tid as i64))?);
        }
    }
    for slice in &trace.slices {
        let (start, end) = (nanoseconds(slice.start_s), nanoseconds(slice.end_s));
        lines.push(json::to_line(&Complete {
            name: &slice.name,
            cat: slice.category,
            ph: 'X',
            ts: microseconds(start),
            dur: microseconds((end - start).max(0)),
            pid: slice.process + 1,
            tid: slice.thread + 1,
            args: Named(&slice.args),
        })?);
    }
    let about = json::to_line(&Named(&trace.about))?;
    let mut text = String::from("{\"traceEvents\":[\n");
    text.push_str(&lines.join(",\n"));
    text.push_str("\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":");
    text.push_str(&about);
    text.push_str("}\n");
    Ok(text)
}

/// Assigns rows to spans that may overlap: returns for each span, in the given order, the index of the first row that
/// is free when the span starts. Adjacent spans may share a row. The spans must be sorted by start.
pub fn rows(spans: impl IntoIterator<Item = (f64, f64)>) -> Vec<usize> {
    let mut free_at: Vec<i64> = Vec::new();
    spans
        .into_iter()
        .map(|(start_s, end_s)| {
            let (start, end) = (nanoseconds(start_s), nanoseconds(end_s));
            let row = free_at.iter().position(|free| *free <= start).unwrap_or(free_at.len());
            match free_at.get_mut(row) {
                Some(free) => *free = end,
                None => free_at.push(end),
            }
            row
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_carry_microseconds_and_names() {
        let trace = Trace {
            processes: vec![Process { name: "pod \"0\"".to_owned(), threads: vec!["p0→p1".to_owned()] }],
            slices: vec![Slice {
                process: 0,
                thread: 0,
                name: "F1".to_owned(),
                category: "pp_fwd",
                start_s: 0.037552804,
                end_s: 0.0382238929,
                args: vec![("bytes", Value::Int(33_554_432)), ("nics", Value::Float(1.5))],
            }],
            about: vec![("method".to_owned(), Value::from("auto"))],
        };
        let value: serde_json::Value = serde_json::from_str(&write(&trace).unwrap()).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        assert_eq!(events.len(), 5);
        assert_eq!(events[0]["args"]["name"], "pod \"0\"");
        assert_eq!(
            (&events[2]["name"], &events[2]["args"]["name"]),
            (&"thread_name".into(), &"p0→p1".into())
        );
        let slice = &events[4];
        assert_eq!((&slice["ph"], &slice["pid"], &slice["tid"]), (&"X".into(), &1.into(), &1.into()));
        assert_eq!((slice["ts"].as_f64(), slice["dur"].as_f64()), (Some(37552.804), Some(671.089)));
        assert_eq!((&slice["args"]["bytes"], &slice["args"]["nics"]), (&33_554_432.into(), &1.5.into()));
        assert_eq!(value["otherData"]["method"], "auto");
    }

    #[test]
    fn what_overlaps_goes_to_rows_of_its_own() {
        assert_eq!(rows([(0.0, 2.0), (1.0, 3.0), (2.0, 4.0), (2.5, 2.6)]), [0, 1, 0, 2]);
    }
}
