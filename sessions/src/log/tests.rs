//! Lines, cut anywhere, damaged, endless, still being written.

use super::*;
use crate::toy;
use lightbay_core::event::{Event, EventBody};

fn line(event: &Event, plan: Option<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    LogRecord { record: event.record(), plan: plan.map(PlanId), content: None }
        .write_line(&mut bytes)
        .unwrap();
    bytes
}

fn log() -> Vec<u8> {
    let events = [
        (toy::bound(1, 0, 0.25), None),
        (toy::incumbent(1, 1, 1, 0.5), Some(1)),
        (toy::generation(2, 0, 0.75), None),
        (toy::done(1, 2, Some(0.5)), Some(1)),
    ];
    events.iter().flat_map(|(event, plan)| line(event, *plan)).collect()
}

/// Line ends in a piece of a log.
fn ends(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

fn read(bytes: &[u8]) -> Vec<LogLine> {
    let mut reader = LogReader::new(bytes);
    std::iter::from_fn(|| reader.next_line().unwrap()).collect()
}

#[test]
fn lines_are_event_records_with_the_plan_number() {
    let text = String::from_utf8(log()).unwrap();
    let second: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["schema"], "lightbay.event/1");
    assert_eq!(second["event"], "incumbent");
    assert_eq!(second["value"], 0.5);
    assert_eq!(second["plan"], 1);
    assert_eq!(second.get("result"), None, "plans are written by number only");
    let lines = read(&log());
    assert_eq!(lines.len(), 4);
    let LogLine::Record(record) = &lines[1] else { panic!("{:?}", lines[1]) };
    assert_eq!(record.plan, Some(PlanId(1)));
    assert!(matches!(&record.record.body, EventBody::Incumbent(found) if found.number == 1));
}

#[test]
fn a_log_cut_at_any_byte_gives_all_whole_lines() {
    let whole = log();
    for cut in 0..=whole.len() {
        let lines_ended = ends(&whole[..cut]);
        // Only the line end may be missing: then the record is there.
        let complete = lines_ended + usize::from(cut < whole.len() && whole[cut] == b'\n');
        let lines = read(&whole[..cut]);
        let records = lines.iter().filter(|line| matches!(line, LogLine::Record(_))).count();
        assert_eq!(records, complete, "cut at {cut}");
        assert!(!lines.iter().any(|line| matches!(line, LogLine::Broken(_))), "cut at {cut}");
    }
}

#[test]
fn mending_a_log_cut_at_any_byte_makes_it_fit_for_appending() {
    let whole = log();
    for cut in 0..=whole.len() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&whole[..cut]).unwrap();
        let (length, removed) = mend(&mut file).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut left = Vec::new();
        file.read_to_end(&mut left).unwrap();
        assert_eq!(left.len() as u64, length, "cut at {cut}");
        assert_eq!(left, whole[..left.len()], "cut at {cut}");
        assert!(left.is_empty() || left.ends_with(b"\n"), "cut at {cut}");
        assert_eq!(read(&left).len(), read(&whole[..cut]).len() - usize::from(removed > 0), "cut at {cut}");
    }
}

#[test]
fn mending_finds_the_last_line_end_far_from_the_end() {
    let mut file = tempfile::tempfile().unwrap();
    let first = line(&toy::bound(1, 0, 0.5), None);
    file.write_all(&first).unwrap();
    file.write_all(&vec![b'x'; 200_000]).unwrap();
    assert_eq!(mend(&mut file).unwrap(), (first.len() as u64, 200_000));
}

#[test]
fn damage_in_the_middle_is_reported_with_its_line_and_skipped() {
    let mut bytes = line(&toy::bound(1, 0, 0.5), None);
    bytes.extend_from_slice(b"\0\0\0\0\n");
    bytes.extend_from_slice(b"{\"schema\": \"lightbay.event/1\", \"event\": \"sing\"}\n");
    let newer = String::from_utf8(line(&toy::bound(1, 1, 0.5), None)).unwrap();
    bytes.extend_from_slice(newer.replace("event/1", "event/2").as_bytes());
    bytes.extend_from_slice(&line(&toy::bound(1, 2, 0.5), None));
    let lines = read(&bytes);
    let problems: Vec<String> = lines
        .iter()
        .filter_map(|line| match line {
            LogLine::Broken(problem) => Some(problem.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].starts_with("line 2: is not an event record"), "{problems:?}");
    assert!(problems[2].contains("line 4: has schema 'lightbay.event/2'"), "{problems:?}");
}

#[test]
fn an_endless_line_is_skipped_in_bounded_memory() {
    let good = line(&toy::bound(1, 0, 0.5), None);
    let long = MAX_LINE_BYTES * 3 + 17;
    let input = good.as_slice().chain(io::repeat(b'x').take(long)).chain(&b"\n"[..]).chain(good.as_slice());
    let mut reader = LogReader::new(BufReader::new(input));
    assert!(matches!(reader.next_line().unwrap(), Some(LogLine::Record(_))));
    assert!(matches!(reader.next_line().unwrap(), Some(LogLine::Broken(_))));
    assert!(matches!(reader.next_line().unwrap(), Some(LogLine::Record(_))));
    assert!(reader.next_line().unwrap().is_none());
    assert_eq!(reader.end(), 2 * good.len() as u64 + long + 1);
    assert!(reader.buffer.capacity() as u64 <= 2 * MAX_LINE_BYTES);
}

#[test]
fn a_follower_sees_each_line_once_and_only_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.log");
    let mut follower = Follower::from(&path, 0);
    assert!(follower.poll(100).unwrap().is_empty(), "no log yet");
    let whole = log();
    let mut seen = 0;
    for end in 0..=whole.len() {
        std::fs::write(&path, &whole[..end]).unwrap();
        seen += follower.poll(1).unwrap().len();
        assert_eq!(seen, ends(&whole[..end]), "{end} bytes");
    }
}

#[test]
fn numbers_that_are_not_finite_leave_no_half_line() {
    let mut bytes = b"before\n".to_vec();
    let record = LogRecord { record: toy::bound(1, 0, f64::NAN).record(), plan: None, content: None };
    assert!(record.write_line(&mut bytes).is_err());
    assert_eq!(bytes, b"before\n");
}
