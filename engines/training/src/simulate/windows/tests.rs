#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use super::*;
use crate::model::samples::{tiny4, toy_b};
use crate::simulate::contention::Contention;
use crate::simulate::iteration::ideal;

fn assert_ms(times: &[f64], expected: &[f64]) {
    assert_eq!(times.len(), expected.len());
    for (time, expected) in times.iter().zip(expected) {
        assert!((time * 1e3 - expected).abs() < 1e-5, "{} ms, not {expected}", time * 1e3);
    }
}

#[test]
fn windows_of_the_second_worked_example() {
    let network = Network::new(&toy_b()).unwrap();
    let windows = Windows::new(&network, 0.05);
    assert_ms(&windows.est, &[0.0, 20.0, 10.0]);
    assert_ms(&windows.lct, &[30.0, 50.0, 50.0]);
    let index = IndexWindows::new(&network, 6);
    assert_eq!((index.first.as_slice(), index.last.as_slice()), (&[1, 3, 2][..], &[4, 6, 6][..]));
    assert_eq!(index.empty_window(), None);
    assert_eq!(IndexWindows::new(&network, 2).empty_window(), Some(0));
}

#[test]
fn windows_of_the_smallest_preset() {
    let network = Network::new(&tiny4()).unwrap();
    let windows = Windows::new(&network, 0.454_124_603);
    let est = [
        37.552804, 56.496978, 75.441152, 150.211216, 206.708194, 206.708194, 263.205172, 319.366605,
        282.149346, 319.702150, 357.254954, 394.472213,
    ];
    let lct = [
        42.930900, 99.092333, 155.589311, 155.589311, 212.086289, 212.086289, 287.191897, 324.744701,
        454.124603, 454.124603, 454.124603, 454.124603,
    ];
    assert_ms(&windows.est, &est);
    assert_ms(&windows.lct, &lct);
}

#[test]
fn anchored_windows_contain_the_anchor() {
    let network = Network::new(&tiny4()).unwrap();
    let run = ideal(&network, &Contention::new(&network));
    let times = run.trace.event_times();
    assert_eq!(times.len() - 1, 20);
    for margin in 0..3 {
        let windows = IndexWindows::anchored(&network, &run.trace, margin);
        assert_eq!(windows.intervals, 22);
        assert_eq!(windows.empty_window(), None);
        for task in 0..network.tasks() {
            let first =
                times.iter().position(|t| (t - run.trace.start[task]).abs() < 1e-9).unwrap() as u32 + 1;
            let last = times.iter().position(|t| (t - run.trace.finish[task]).abs() < 1e-9).unwrap() as u32;
            assert!(windows.first[task] <= first && last <= windows.last[task]);
        }
    }
    let (tight, loose) =
        (IndexWindows::anchored(&network, &run.trace, 0), IndexWindows::anchored(&network, &run.trace, 2));
    let cells = |w: &IndexWindows| w.last.iter().zip(&w.first).map(|(l, f)| l - f + 1).sum::<u32>();
    assert!(cells(&tight) < cells(&loose));
}
