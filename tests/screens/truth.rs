//! Tests that each header, bar, row and pane shows the figures of its own plan, run and parameters, and never the
//! figures of another plan or run.

use super::files::has;
use super::fixture::{Bench, Style};
use lightbay::app::plans::Shown;
use lightbay::app::{Command, PaneId};
use lightbay_core::event::{
    Bound, Done, EndStatus, EventBody, Incumbent, Paused, RunId, SeriesPoint, SolverStats,
};
use lightbay_core::plan::Limit;
use std::collections::BTreeMap;
use std::time::Duration;

const THREE: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

/// Returns the event of a run that has ended.
fn done(status: EndStatus, limit: Option<Limit>, message: &str) -> EventBody {
    EventBody::Done(Done {
        status,
        limit,
        message: message.to_owned(),
        violations: Vec::new(),
        value: None,
        bound: None,
        work: 0,
        plan: None,
    })
}

fn bound(value: f64, only: Option<&str>) -> EventBody {
    EventBody::Bound(Bound { value, only: only.map(str::to_owned) })
}

/// Returns the row of a method in the solve strip, even if other rows also name the method.
fn row_of(bench: &mut Bench, method: &str, size: (u16, u16)) -> String {
    let screen = bench.screen("truth-strip", size.0, size.1);
    let drawn = bench.draw(size.0, size.1).1;
    let strip = drawn.pane(PaneId::Solve).unwrap().area;
    let (top, left) = (usize::from(strip.y), usize::from(strip.x));
    let rows = screen.lines().skip(top).take(usize::from(strip.height));
    rows.map(|row| row.chars().skip(left).take(usize::from(strip.width)).collect::<String>())
        .find(|row| row.contains(method))
        .unwrap_or_else(|| panic!("no row of {method} in\n{screen}"))
}

#[test]
fn every_row_of_the_strip_tells_its_own_best() {
    let mut bench = Bench::solved("small", Style::Colour);
    let own: Vec<(String, f64)> =
        bench.app.runs.iter().map(|run| (run.method.clone(), run.best.as_ref().unwrap().value)).collect();
    let best = own.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    assert!(own.iter().any(|(_, value)| (value - best) > 1e-3), "two runs that differ: {own:?}");
    for size in THREE {
        // At 80x24 not all rows fit.
        let rows = if size.1 == 24 { &own[1..] } else { &own[..] };
        for (method, value) in rows {
            let row = row_of(&mut bench, method, size);
            let short = format!("{value:.3}");
            let told = row.contains(&short) || row.contains(&format!("{value:.6}"));
            // In the narrow side bar of this size a row may have no room for its value.
            assert!(told || size.1 == 40, "{method} has {short}, its row says: {row}");
            let best = format!("{best:.3}");
            let others = [format!("best {best}"), format!(" {best} DONE")];
            let others = best != short && others.iter().any(|other| row.contains(other.as_str()));
            assert!(!others, "the best of another run stands as that of {method}: {row}");
        }
    }
}

#[test]
fn a_run_on_changed_parameters_wears_no_proof_of_the_ones_before() {
    for size in THREE {
        let mut bench = Bench::working("tiny4", Style::Colour);
        bench.keys("x");
        bench.set("bandwidth_gbps=800");
        bench.run(Command::Solve { method: Some("delta-joint".to_owned()), warm: true });
        bench.begin(7, "delta-joint", false);
        let drawn = bench.draw(size.0, size.1).1;
        let strip = drawn.pane(PaneId::Solve).unwrap().area;
        let screen = bench.screen("truth-fresh", size.0, size.1);
        let rows = screen.lines().skip(usize::from(strip.y)).take(usize::from(strip.height));
        let (left, width) = (usize::from(strip.x), usize::from(strip.width));
        let text: String = rows.flat_map(|row| row.chars().skip(left).take(width).chain(['\n'])).collect();
        for of_others in ["proven", "100 %", "best 0.", "of all 0."] {
            assert!(
                !text.contains(of_others),
                "'{of_others}' in the strip of a run that just began\n{screen}"
            );
        }
    }
}

#[test]
fn the_header_speaks_of_the_run_that_ended_last_and_the_strip_says_why() {
    for (status, limit, message, word, reason) in [
        (EndStatus::Stopped, None, "stopped on request", "STOPPED", "stopped on request"),
        (EndStatus::Stopped, Some(Limit::Time), "time limit reached", "STOPPED", "time limit"),
        (EndStatus::Feasible, Some(Limit::Work), "", "DONE", "work limit reached"),
        (EndStatus::GapReached, None, "", "DONE", "the requested gap is reached"),
    ] {
        let mut bench = Bench::open("tiny4", Style::Colour);
        bench.begin(1, "delta-interval", false);
        bench.begin(2, "delta-fast", false);
        bench.wait(Duration::from_secs(1));
        bench.say(2, 0.5, done(EndStatus::Heuristic, None, ""));
        bench.wait(Duration::from_secs(20));
        bench.say(1, 21.0, done(status, limit, message));
        let screen = bench.screen("truth-ended", 120, 40);
        has(screen.lines().next().unwrap(), &format!("{word} 00:21"));
        let screen = bench.screen("truth-ended", 200, 60);
        has(&screen, reason);
    }
}

#[test]
fn a_bound_on_some_plans_is_never_that_on_all() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    let best = bench.app.plans.best().unwrap().value;
    bench.begin(4, "delta-interval", false);
    bench.say(4, 0.1, bound(best * 0.9, None));
    let with_global = bench.screen("truth-bound", 160, 45).lines().next().unwrap().to_owned();
    for (at_s, value) in [(0.2, 0.0), (0.3, best * 0.99), (0.4, best)] {
        bench.say(4, at_s, bound(value, Some("these intervals and windows only")));
        let run = bench.app.runs.get(RunId(4)).unwrap();
        assert_eq!(run.bound, Some(best * 0.9));
        assert_eq!(run.partial.as_ref().unwrap().value, value);
        assert_eq!((run.bounds.total(), run.proof()), (1, Some((best * 0.9, None))));
        let header = bench.screen("truth-bound", 160, 45).lines().next().unwrap().to_owned();
        assert_eq!(header, with_global, "what covers some plans moves no gap");
    }
    let said: Vec<&str> = bench.app.log.iter().map(|line| line.text.as_str()).collect();
    let moves: Vec<&&str> = said.iter().filter(|text| text.starts_with("bound")).collect();
    assert!(
        !moves.is_empty()
            && moves.iter().all(|text| text.starts_with("bound for these intervals and windows alone ")),
        "{moves:?}"
    );
    let screen = bench.alone("truth", 5, 160, 45);
    has(&screen, "these intervals and windows only");
}

#[test]
fn a_trivial_bound_of_an_open_node_is_not_told() {
    let mut bench = Bench::solved("tiny4", Style::Colour);
    bench.begin(4, "delta-interval", false);
    bench.say(4, 0.1, bound(0.1, None));
    for (at_s, next, told) in [(0.5, 0.0, false), (1.0, 0.2, true)] {
        let stats =
            SolverStats { unit: "nodes".to_owned(), next_bound: Some(next), ..SolverStats::default() };
        bench.say(4, at_s, EventBody::Solver(stats));
        let screen = bench.alone("truth", 5, 160, 45);
        assert_eq!(screen.contains("best open node"), told, "{screen}");
    }
}

#[test]
fn the_footer_offers_what_the_key_does() {
    let mut bench = Bench::open("tiny4", Style::Colour);
    bench.begin(1, "delta-fast", false);
    for (paused, offered, other) in [(false, "p pause", "p resume"), (true, "p resume", "p pause")] {
        bench.say(1, 0.1, EventBody::Paused(Paused { paused }));
        let screen = bench.screen("truth-footer", 120, 40);
        let footer = screen.lines().last().unwrap();
        has(footer, offered);
        assert!(!footer.contains(other), "{footer}");
    }
}

#[test]
fn all_lines_of_the_log_have_one_clock() {
    let mut bench = Bench::open("tiny4", Style::Colour);
    // The clocks of runs begin anew, that of the program does not.
    for run in 1..4 {
        bench.begin(run, "delta-fast", false);
        bench.wait(Duration::from_secs(2));
        bench.say(run, 0.5, done(EndStatus::Heuristic, None, ""));
    }
    let times: Vec<f64> = bench.app.log.iter().map(|line| line.at_s).collect();
    assert!(times.len() > 6 && times.is_sorted(), "{times:?}");
}

/// Returns the settings that a screen advises, from text such as `set a=b and c=d`.
fn advised(screen: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = screen.split_whitespace().collect();
    let after_set = words.iter().enumerate().filter(|(at, word)| {
        let before = words[at.saturating_sub(4)..*at].iter();
        word.contains('=') && before.rev().any(|word| *word == "set")
    });
    after_set
        .filter_map(|(_, word)| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.trim_end_matches([',', '.', ';']).to_owned()))
        .collect()
}

/// Presets with settings that are set one after the other; panes must not advise a setting that is already set.
const ASKED: [(&str, &[&str]); 3] = [
    ("tpu-128", &["tolerated_ocs_faults=1", "routing=at", "with_routes=true", "with_faults=true"]),
    ("crossconnect-16-16-25", &["max_dark_per_pod=3"]),
    ("tiny4", &["bandwidth_gbps=800"]),
];

#[test]
fn no_pane_advises_what_is_set_already() {
    for (preset, settings) in ASKED {
        let mut bench = Bench::open(preset, Style::Colour);
        for stage in 0..=settings.len() {
            if let Some(setting) = stage.checked_sub(1).and_then(|at| settings.get(at)) {
                bench.set(setting);
            }
            let panes: Vec<u8> = bench.app.kind_panes().iter().map(|info| info.number).collect();
            for pane in panes {
                let screen = bench.alone("truth", pane, 160, 45);
                for (name, value) in advised(&screen) {
                    let now = bench.app.setting(&name).map(|value| value.to_string());
                    assert_ne!(now, Some(value), "pane {pane} of {preset} advises what is set\n{screen}");
                }
            }
        }
    }
}

#[test]
fn throughput_and_sizes_speak_of_the_plan_shown() {
    for (shown, other) in [("pdtt", "pt"), ("pt", "pdtt")] {
        let mut bench = Bench::open("tpu-128", Style::Colour);
        for (run, method) in [(1, "pt"), (2, "pdtt")] {
            bench.begin(run, method, false);
            let value = if method == "pt" { 0.0101 } else { 0.0107 };
            let point = SeriesPoint { name: "mcf_lower".to_owned(), x: 0.1, y: value };
            bench.say(run, 0.1, EventBody::Series(point));
            let incumbent = Incumbent {
                number: 0,
                value,
                secondary: 0.0,
                source: "flow".to_owned(),
                checked: false,
                metrics: BTreeMap::new(),
                plan: None,
            };
            bench.say(run, 0.1, EventBody::Incumbent(incumbent));
            bench.say(run, 0.2, done(EndStatus::Heuristic, None, ""));
            let plan = super::files::plan(&format!("pods/{method}-128"));
            let number = run;
            bench.fact(lightbay::app::action::Fact::Kept { number, plan, source: "a file".to_owned() });
            let sha256 = bench.app.work.as_ref().unwrap().now.sha256.clone();
            let entry = bench.app.plans.get_mut(number).unwrap();
            (entry.scenario_sha256, entry.origin) = (sha256, Some((RunId(run), 1)));
        }
        let number = if shown == "pt" { 1 } else { 2 };
        bench.app.plans.shown = Shown::Chosen(number);
        let certified = |method: &str| if method == "pt" { "0.01010" } else { "0.01070" };
        for size in [(160, 45), (120, 40)] {
            let screen = bench.alone("truth", 3, size.0, size.1);
            let of_pod: Vec<&str> = screen.lines().filter(|line| line.contains("certified 0.")).collect();
            assert!(of_pod.iter().all(|line| !line.contains(certified(other))), "{screen}");
        }
        assert_eq!(bench.app.plans.shown().unwrap().method, shown);
    }
}
