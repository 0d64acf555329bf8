//! A workbench in known states: after small real runs with a stopped clock, or in states made by hand.

use lightbay::app::action::{Fact, Heard, Opened, Recent, SessionView, Submitted};
use lightbay::app::drawn::Drawn;
use lightbay::app::key::Key;
use lightbay::app::{Action, App, AppOptions, Command, Look};
use lightbay::view::{self, ViewCache};
use lightbay_core::clock::ManualClock;
use lightbay_core::event::{
    Bound, Event, EventBody, EventSink, Phase, Recorder, RunId, SolverStats, Started,
};
use lightbay_core::run::Runs;
use lightbay_engines::{AnyScenario, Request};
use lightbay_widgets::{Background, ColorDepth, GlyphSet, Palette, text_of};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A workbench with its screen.
pub struct Bench {
    pub app: App,
    pub cache: ViewCache,
    now: Instant,
    plans: u64,
}

/// Look of the screen in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Colour,
    NoColour,
    Ascii,
}

fn look(style: Style) -> Look {
    let (depth, glyphs) = match style {
        Style::Colour => (ColorDepth::TrueColor, GlyphSet::Braille),
        Style::NoColour => (ColorDepth::None, GlyphSet::Braille),
        Style::Ascii => (ColorDepth::None, GlyphSet::Ascii),
    };
    Look::new(Palette::Okabe, depth, Background::Dark, glyphs, true)
}

impl Bench {
    /// The start screen.
    pub fn start(style: Style) -> Self {
        let now = Instant::now();
        let options = AppOptions {
            version: "0.1.0",
            host: "solve-box".to_owned(),
            panes: view::present::panes,
            look: look(style),
            threads: (1, 2),
            folder: PathBuf::from("/home/me/plans"),
            title: false,
            keymap: lightbay::app::keymap::Keymap::default(),
        };
        Self { app: App::new(options, now), cache: ViewCache::new(), now, plans: 0 }
    }

    /// Opens a built-in scenario that is not solved yet.
    pub fn open(preset: &str, style: Style) -> Self {
        let mut bench = Self::start(style);
        let scenario = lightbay_engines::preset(preset).unwrap();
        let session = SessionView { name: format!("{preset}-1"), ..SessionView::default() };
        bench.fact(Fact::Opened(Box::new(Opened {
            source: format!("preset:{preset}"),
            scenario,
            plans: Vec::new(),
            events: Vec::new(),
            remembered: None,
            session,
            notes: Vec::new(),
            solve: None,
        })));
        bench
    }

    /// Opens a built-in scenario with three finished runs; the first plan is the baseline.
    pub fn solved(preset: &str, style: Style) -> Self {
        let mut bench = Self::open(preset, style);
        for (run, method) in [(1, "prop-alloc"), (2, "delta-fast"), (3, "delta-level")] {
            bench.solve(run, method);
        }
        let first = bench.app.plans.iter().next().map(|entry| entry.number);
        bench.app.plans.baseline = first;
        bench
    }

    /// Opens a built-in scenario with an active, a paused and a waiting run.
    pub fn working(preset: &str, style: Style) -> Self {
        let mut bench = Self::solved(preset, style);
        let best =
            bench.app.plans.best().map(|entry| (entry.value, entry.metrics["ideal_makespan_s"])).unwrap();
        let bound = best.1 + (best.0 - best.1) * 0.7;
        bench.begin(4, "delta-joint", false);
        bench.say(
            4,
            0.1,
            EventBody::Phase(Phase { name: "search".to_owned(), detail: "box by box".to_owned() }),
        );
        bench.say(4, 0.2, EventBody::Bound(Bound { value: bound, only: None }));
        let vectors = SolverStats {
            unit: "allocs".to_owned(),
            done: 1,
            total: Some(61),
            next_bound: Some(bound),
            ..SolverStats::default()
        };
        bench.say(4, 0.3, EventBody::Solver(vectors));
        bench.say(4, 0.4, EventBody::Paused(lightbay_core::event::Paused { paused: true }));
        bench.begin(5, "delta-topo", false);
        let nodes = SolverStats {
            unit: "nodes".to_owned(),
            done: 4657,
            open: Some(44),
            lp_iterations: Some(461_000),
            ..SolverStats::default()
        };
        bench.say(5, 12.0, EventBody::Solver(nodes));
        let only = Some("this event order only".to_owned());
        bench.say(5, 49.9, EventBody::Bound(Bound { value: bound * 0.999, only }));
        bench.begin(6, "delta-fast", true);
        bench.say(5, 62.0, EventBody::Phase(Phase { name: "polish".to_owned(), detail: String::new() }));
        bench
    }

    /// Runs a method to its end with one thread, and passes the events to the state.
    pub fn solve(&mut self, run: u64, method: &str) {
        let scenario: AnyScenario = self.app.work.as_ref().unwrap().now.scenario.clone();
        let recorder = Arc::new(Recorder::default());
        let sink: Arc<dyn EventSink> = Arc::clone(&recorder) as Arc<dyn EventSink>;
        let runs = Runs::new(1, RunId(run), sink, Arc::new(ManualClock::default()), None).unwrap();
        runs.submit(lightbay_engines::job(&scenario, &Request::of(method)).unwrap());
        assert!(runs.wait_idle(Duration::from_mins(2)));
        self.begin(run, method, false);
        self.app.work.as_mut().unwrap().note_solved();
        let mut number = None;
        for event in recorder.events() {
            if matches!(event.body, EventBody::Incumbent(_)) {
                self.plans += 1;
                number = Some(self.plans);
            }
            let plan = match event.body {
                EventBody::Incumbent(_) | EventBody::Done(_) => number,
                _ => None,
            };
            self.fact(Fact::Event(Heard::new(event, plan)));
        }
    }

    pub fn begin(&mut self, run: u64, method: &str, queued: bool) {
        let scenario_sha256 = self.app.work.as_ref().unwrap().now.sha256.clone();
        self.fact(Fact::Submitted(Submitted {
            run: RunId(run),
            method: method.to_owned(),
            scenario_sha256: scenario_sha256.clone(),
            queued,
            hot_start: None,
        }));
        if !queued {
            let started = Started { scenario_sha256, seed: 1, threads: 1, ..Started::default() };
            self.say(run, 0.0, EventBody::Started(started));
        }
    }

    pub fn say(&mut self, run: u64, elapsed_s: f64, body: EventBody) {
        let method = self.app.runs.get(RunId(run)).unwrap().method.clone();
        let event = Event { run: RunId(run), method: method.into(), seq: 0, elapsed_s, body };
        self.fact(Fact::Event(Heard::new(event, None)));
    }

    pub fn fact(&mut self, fact: Fact) {
        self.app.update(Action::Fact(fact), self.now);
    }

    pub fn run(&mut self, command: Command) {
        self.app.update(Action::Do(command), self.now);
    }

    /// Changes a knob.
    pub fn set(&mut self, setting: &str) {
        self.run(Command::Set(setting.to_owned()));
    }

    /// Presses keys, which are written as in the help and separated by blanks.
    pub fn keys(&mut self, keys: &str) {
        for key in lightbay::app::key::sequence(keys).unwrap() {
            self.app.update(Action::Key(key), self.now);
        }
    }

    /// Types a text.
    pub fn types(&mut self, text: &str) {
        for c in text.chars() {
            self.app.update(Action::Key(Key::char(c)), self.now);
        }
    }

    /// Lets time pass.
    pub fn wait(&mut self, by: Duration) {
        self.now += by;
        self.app.update(Action::Tick, self.now);
    }

    /// Draws one frame without waiting for jobs.
    pub fn frame(&mut self, width: u16, height: u16) -> (Buffer, Drawn) {
        self.app.update(Action::Resize(width, height), self.now);
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        let drawn = view::draw_into(&self.app, &mut self.cache, area, &mut buf);
        (buf, drawn)
    }

    /// Draws frames and executes the jobs that drawing requests, as the event loop does, until a frame requests no job.
    pub fn draw(&mut self, width: u16, height: u16) -> (Buffer, Drawn) {
        for _ in 0..8 {
            let (buf, mut drawn) = self.frame(width, height);
            let jobs = std::mem::take(&mut drawn.jobs);
            self.app.update(Action::Drawn(drawn.clone()), self.now);
            if jobs.is_empty() {
                return (buf, drawn);
            }
            for job in jobs {
                self.cache.accept(job.key, (job.work)());
            }
        }
        panic!("drawing asks for work again and again");
    }

    /// Returns the screen as text.
    pub fn screen(&mut self, name: &str, width: u16, height: u16) -> String {
        // Twice: what drawing found, such as selections and offsets, shows in the second frame.
        self.draw(width, height);
        let (buf, _) = self.draw(width, height);
        if let Ok(folder) = std::env::var("LIGHTBAY_SCREENS") {
            let path = PathBuf::from(folder).join(format!("{name}-{width}x{height}.ansi"));
            std::fs::write(path, ansi(&buf)).unwrap();
        }
        text_of(&buf)
    }
}

/// Returns sessions for the start screen.
pub fn recent() -> Vec<Recent> {
    let recent = |name: &str, method: &str, value: f64, nct: f64, status: &str, age: &str| Recent {
        gap: Some(if status == "optimal" { 0.0 } else { 0.0312 }),
        verified: true,
        name: name.to_owned(),
        kind: "training".to_owned(),
        method: method.to_owned(),
        objective: Some(("makespan_s".to_owned(), value)),
        metrics: BTreeMap::from([("nct".to_owned(), nct)]),
        status: status.to_owned(),
        age: age.to_owned(),
    };
    vec![
        recent("megatron_177b", "delta-joint", 12.829_852, 1.0691, "optimal", "2 min ago"),
        recent("megatron_462b", "delta-joint", 32.957_843, 1.0, "optimal", "today 23:40"),
        recent("mixtral_8x22b", "delta-fast", 11.363_199, 1.1897, "stopped", "yesterday"),
    ]
}

/// Returns a screen with its styles as escape sequences, for inspection in a terminal.
fn ansi(buf: &Buffer) -> String {
    use ratatui::style::{Color, Modifier};
    let colour = |colour: Color, base: u8| match colour {
        Color::Rgb(r, g, b) => format!(";{base}8;2;{r};{g};{b}"),
        _ => String::new(),
    };
    let mut out = String::new();
    for y in 0..buf.area.height {
        for x in 0..buf.area.width {
            let cell = &buf[(x, y)];
            let mut codes = "0".to_owned();
            for (modifier, code) in
                [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2"), (Modifier::REVERSED, ";7")]
            {
                if cell.modifier.contains(modifier) {
                    codes.push_str(code);
                }
            }
            codes.push_str(&colour(cell.fg, 3));
            codes.push_str(&colour(cell.bg, 4));
            out.extend(["\u{1b}[", &codes, "m", cell.symbol()]);
        }
        out.push_str("\u{1b}[0m");
        if y + 1 < buf.area.height {
            out.push_str("\r\n");
        }
    }
    out
}
