//! A workbench with a small scenario, and short functions that send input to the workbench.

use crate::app::action::{Action, Fact, Heard, Opened, SessionView, Submitted};
use crate::app::drawn::{CellEditing, Drawn, EditTarget, Item, PaneDrawn};
use crate::app::effect::{Effect, Effects, RunRequest};
use crate::app::key::sequence;
use crate::app::pane::{PaneId, PaneInfo, PaneTable};
use crate::app::{App, AppOptions, Look};
use lightbay_core::checked::SharedPlan;
use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Event, EventBody, Recorder, RunId};
use lightbay_core::run::Runs;
use lightbay_engines::{AnyScenario, Request};
use lightbay_widgets::{Background, ColorDepth, GlyphSet, Palette};
use ratatui::layout::Rect;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub const PANES: &[PaneInfo] = &[
    PaneInfo { modes: &["folded", "full"], zooms: true, ..PaneInfo::new(1, "DAG", "Where does time go?") },
    PaneInfo { steps: "interval", overlay: "windows", ..PaneInfo::new(2, "Activity", "Who waits for whom?") },
    PaneInfo::new(3, "Ports", "How many circuits does each link have?"),
];

pub fn scenario() -> AnyScenario {
    lightbay_engines::preset("tiny4").unwrap()
}

/// A workbench and its clock.
pub struct Bench {
    pub app: App,
    pub now: Instant,
    pub effects: Effects,
    next_run: u64,
}

impl Bench {
    /// Creates a workbench that shows the start screen.
    pub fn start() -> Self {
        let now = Instant::now();
        let look = Look::new(Palette::Mono, ColorDepth::None, Background::Dark, GlyphSet::Ascii, true);
        let options = AppOptions {
            version: "test",
            host: "test-host".to_owned(),
            panes: |_| PANES,
            look,
            threads: (1, 2),
            folder: "/tmp/lightbay-test".into(),
            title: false,
            keymap: crate::app::keymap::Keymap::default(),
        };
        let mut bench = Self { app: App::new(options, now), now, effects: Vec::new(), next_run: 1 };
        bench.act(Action::Resize(120, 40));
        bench
    }

    /// Creates a workbench with an open scenario.
    pub fn open() -> Self {
        Self::open_with(|_| PANES)
    }

    /// Creates a workbench with an open scenario whose kind has the panes `panes`.
    pub fn open_with(panes: PaneTable) -> Self {
        let mut bench = Self::start();
        bench.app.options.panes = panes;
        bench.fact(Fact::Opened(Box::new(Self::opened())));
        bench
    }

    /// Returns a scenario as it is opened, without plans.
    pub fn opened() -> Opened {
        Opened {
            source: "preset:tiny4".to_owned(),
            scenario: scenario(),
            plans: Vec::new(),
            events: Vec::new(),
            remembered: None,
            session: SessionView { name: "tiny4".to_owned(), ..SessionView::default() },
            notes: Vec::new(),
            solve: None,
        }
    }

    pub fn act(&mut self, action: Action) -> &mut Self {
        self.effects = self.app.update(action, self.now);
        self
    }

    pub fn fact(&mut self, fact: Fact) -> &mut Self {
        self.act(Action::Fact(fact))
    }

    /// Presses keys, which are written as in the action table.
    pub fn keys(&mut self, text: &str) -> &mut Self {
        let mut effects = Vec::new();
        for key in sequence(text).unwrap() {
            self.act(Action::Key(key));
            effects.append(&mut self.effects);
        }
        self.effects = effects;
        self
    }

    /// Types text into a field.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            self.act(Action::Key(crate::app::key::Key::char(character)));
        }
        self
    }

    pub fn wait(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self.act(Action::Tick)
    }

    /// Returns the request to start a run among the last effects.
    pub fn request(&self) -> &RunRequest {
        self.effects
            .iter()
            .find_map(|effect| match effect {
                Effect::StartRun(request) => Some(request),
                _ => None,
            })
            .expect("a run was started")
    }

    /// Accepts the last request to start a run, as the runtime does, and returns the number of the run.
    pub fn accept(&mut self, queued: bool) -> RunId {
        let request = self.request().clone();
        let run = RunId(self.next_run);
        self.next_run += 1;
        let submitted = Submitted {
            run,
            method: request.method,
            scenario_sha256: request.scenario_sha256,
            queued,
            hot_start: request.hot_start.map(|(number, _)| number),
        };
        self.fact(Fact::Submitted(submitted));
        run
    }

    /// Passes an event of a run to the state.
    pub fn say(
        &mut self,
        run: RunId,
        method: &str,
        seq: u64,
        body: EventBody,
        plan: Option<u64>,
    ) -> &mut Self {
        let event = Event { run, method: method.into(), seq, elapsed_s: seq as f64, body };
        self.fact(Fact::Event(Heard::new(event, plan)))
    }

    /// Replays the events of a real run of a method as the run with the number `run`. The numbers of the plans begin
    /// with `first_plan`.
    pub fn replay(&mut self, run: RunId, method: &str, first_plan: u64) -> u64 {
        let mut number = first_plan;
        for event in real_run(method) {
            let plan = match &event.body {
                EventBody::Incumbent(incumbent) if incumbent.plan.is_some() => {
                    number += 1;
                    Some(number - 1)
                }
                EventBody::Done(done) if done.plan.is_some() => Some(number - 1),
                _ => None,
            };
            self.fact(Fact::Event(Heard::new(Event { run, ..event.clone() }, plan)));
        }
        number
    }

    pub fn last_message(&self) -> &str {
        self.app.log.last().map_or("", |entry| entry.text.as_str())
    }

    /// Passes the result of a frame to the state; in this frame, pane 3 shows two entries that can be edited.
    pub fn draw_ports(&mut self) {
        let editing = CellEditing {
            method: "simulate",
            target: EditTarget::Param("topology"),
            values: vec![2, 2],
            range: (1, 8),
            names: vec!["p0-p1".to_owned(), "p1-p2".to_owned()],
            cells: vec![(10, 0), (11, 1), (20, 0)],
            from_plan: false,
            variants: vec![("fair", Vec::new())],
        };
        let items: Arc<[Item]> =
            [(10, 0, 0.0), (11, 0, 1.0), (20, 1, 0.0)].map(|(id, row, place)| Item { id, row, place }).into();
        let mut ports = PaneDrawn::new(PaneId::Kind(3), Rect::new(60, 10, 40, 10));
        ports.items = items;
        ports.edit = Some(Arc::new(editing));
        let mut activity = PaneDrawn::new(PaneId::Kind(2), Rect::new(0, 0, 60, 10));
        activity.steps = 5;
        self.act(Action::Drawn(Drawn { panes: vec![ports, activity], layer_page: 10, ..Drawn::default() }));
    }
}

/// Returns all events of a quick method on the scenario; the method runs only once for all tests.
pub fn real_run(method: &str) -> Vec<Event> {
    static RUNS: OnceLock<std::sync::Mutex<std::collections::BTreeMap<String, Vec<Event>>>> = OnceLock::new();
    let runs = RUNS.get_or_init(std::sync::Mutex::default);
    let mut runs = runs.lock().unwrap();
    runs.entry(method.to_owned())
        .or_insert_with(|| {
            let recorder = Arc::new(Recorder::default());
            let board =
                Runs::new(1, RunId(1), recorder.clone(), Arc::new(SystemClock::start()), None).unwrap();
            board.submit(lightbay_engines::job(&scenario(), &Request::of(method)).unwrap());
            assert!(board.wait_idle(Duration::from_mins(1)), "{method} ends on a tiny scenario");
            recorder.events()
        })
        .clone()
}

/// Returns the final plan of a quick method.
pub fn real_plan(method: &str) -> SharedPlan {
    real_run(method)
        .into_iter()
        .find_map(|event| match event.body {
            EventBody::Done(done) => done.plan,
            _ => None,
        })
        .expect("the method finds a plan")
}
