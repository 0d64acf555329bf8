//! A complete kind for tests in one file: transfers that share a link, one after the other. This kind declares metrics,
//! sections of every form, one method and one format. Outside this file, only the list of kinds names this kind. Code
//! that works with this kind works with any kind.

use lightbay_core::checked::{BoundTrust, Verdict, VerifiedBound, Violation};
use lightbay_core::clock::Deadline;
use lightbay_core::context::Context;
use lightbay_core::event::HotStartFate;
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, SubjectSort, file_stem, needs_plan};
use lightbay_core::kind::{Candidate, Carried, Depth, Kind, ObjectiveInfo, Sense};
use lightbay_core::listed::{Listed, Preset};
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::metric::MetricInfo;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Plan, Status};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::Fields;
use lightbay_core::record;
use lightbay_core::record::{Knob, Knobs, Record as _, index, within};
use lightbay_core::report::{
    Cell, Column, Curve, Curves, Facts, Lane, Matrix, Phrase, Point, Report, Section, SectionInfo, Span,
    Spans, Table, Tone, Unavailable, Unit,
};
use lightbay_core::scenario::Scenario;
use lightbay_highs::modelled::Models;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Transfers that share a link.
#[derive(Debug)]
pub struct Sample;

record! {
    /// Transfers and the link that they share.
    pub struct SampleScenario {
        /// Rate of the link.
        pub bandwidth_gbps: f64 = within(1e-3..=1e6).or(100.0).unit("Gb/s"),
        /// Sizes of the transfers, in the order in which they are ready.
        pub sizes_bytes: Vec<u64> = index(),
    }
}

record! {
    /// An order of the transfers.
    pub struct SampleResult {
        /// Indices of the transfers in the order in which they are sent.
        pub order: Vec<u32> = index(),
    }
}

static KNOBS: LazyLock<Knobs<SampleScenario>> = LazyLock::new(|| {
    let bandwidth = Knob::of("bandwidth_gbps", |link: &SampleScenario| Some(link), |link| link);
    Knobs::new(vec![bandwidth])
});

const METRICS: &[MetricInfo] = &[
    MetricInfo::cost("longest_wait_s", "longest wait", Unit::MILLISECONDS, "Wait of the transfer sent last.")
        .in_header(1)
        .in_table("wait", 9, 1)
        .in_comparison("wait", [3, 1]),
    MetricInfo::input("busy_s", "busy", Unit::MILLISECONDS, "Time that the link needs for all transfers.")
        .in_comparison("busy", [3, 1]),
];

const SECTIONS: &[SectionInfo] = &[
    SectionInfo::of_scenario("link", "Link", "How fast is the link, and how much is to be sent?"),
    SectionInfo::of_plan("order", "Order", "Which transfer is sent when, and how long does it wait?"),
    SectionInfo::of_plan("timeline", "Timeline", "When is the link busy with which transfer?"),
    SectionInfo::of_plan("waits", "Waits", "Which transfer waits for which other one?"),
    SectionInfo::of_plan("progress", "Progress", "How many transfers are done by when?")
        .forms(&["curve", "points"]),
];

/// Returns index, start and end (s) of every transfer, in the order in which `order` sends the transfers.
fn spans(scenario: &SampleScenario, order: &[u32]) -> Vec<(u32, f64, f64)> {
    let mut end_s = 0.0;
    let mut span = |transfer: &u32| {
        let start_s = end_s;
        end_s += seconds(scenario, *transfer);
        (*transfer, start_s, end_s)
    };
    order.iter().map(&mut span).collect()
}

/// Returns the time that a transfer takes, s.
fn seconds(scenario: &SampleScenario, transfer: u32) -> f64 {
    let bytes = scenario.sizes_bytes.get(transfer as usize).copied().unwrap_or(0);
    bytes as f64 * 8.0 / (scenario.bandwidth_gbps * 1e9)
}

/// Returns the mean end of all transfers, s.
fn mean_end(spans: &[(u32, f64, f64)]) -> f64 {
    spans.iter().map(|(_, _, end_s)| end_s).sum::<f64>() / spans.len() as f64
}

fn candidate(scenario: &SampleScenario, order: Vec<u32>) -> Candidate<SampleResult> {
    let spans = spans(scenario, &order);
    let last = spans.last().copied().unwrap_or_default();
    let metrics = BTreeMap::from([("longest_wait_s".to_owned(), last.1), ("busy_s".to_owned(), last.2)]);
    Candidate { value: mean_end(&spans), metrics, result: SampleResult { order } }
}

/// Returns the order that ends transfers earliest on average: the shortest first (Smith's rule).
fn shortest_first(scenario: &SampleScenario) -> Vec<u32> {
    let mut order: Vec<u32> = (0..scenario.sizes_bytes.len() as u32).collect();
    order.sort_by_key(|transfer| scenario.sizes_bytes[*transfer as usize]);
    order
}

impl Kind for Sample {
    const NAME: &'static str = "sample";
    const OBJECTIVE: ObjectiveInfo = ObjectiveInfo::min(
        "mean_end_s",
        "mean end",
        Unit::MILLISECONDS,
        "Mean over all transfers of the time at which they end.",
    );
    const DEFAULT_METHOD: &'static str = "swap";
    const METRICS: &'static [MetricInfo] = METRICS;
    const SECTIONS: &'static [SectionInfo] = SECTIONS;
    type Scenario = SampleScenario;
    type Result = SampleResult;

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SampleScenario> {
        SampleScenario::of_fields(fields, problems)
    }

    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SampleResult> {
        SampleResult::of_fields(fields, problems)
    }

    fn validate(scenario: &SampleScenario) -> Result<(), Problems> {
        if scenario.sizes_bytes.is_empty() {
            return Err(Problem::new("sizes_bytes", "is empty", "give at least one transfer").into());
        }
        Ok(())
    }

    fn table() -> Option<&'static Knobs<Self::Scenario>> {
        Some(&KNOBS)
    }

    fn check(plan: &Plan<Self>, _depth: Depth) -> Verdict {
        let (scenario, order) = (&plan.scenario.body, &plan.result.order);
        let mut sent = order.clone();
        sent.sort_unstable();
        if sent != (0..scenario.sizes_bytes.len() as u32).collect::<Vec<_>>() {
            let message = "the order does not contain every transfer exactly once";
            return Verdict::refused(vec![Violation::new("order", message)]);
        }
        let mut verdict = Verdict::clean();
        let value = mean_end(&spans(scenario, order));
        if (value - plan.objective.value).abs() > 1e-9 * value {
            let message = format!("the transfers end at {value} s on average, not {}", plan.objective.value);
            verdict.violations.push(Violation::new("objective", message));
        }
        if let Some(bound) = plan.objective.bound {
            let least = mean_end(&spans(scenario, &shortest_first(scenario)));
            if bound > least * (1.0 + 1e-9) {
                verdict.violations.push(Violation::new("bound", "some order ends earlier than the bound"));
            }
            verdict.bound = BoundTrust::Verified;
            verdict.verified = Some(VerifiedBound::of(Sense::Min, value, least, None));
        }
        verdict
    }

    fn carry(
        result: &SampleResult,
        _from: &SampleScenario,
        to: &SampleScenario,
    ) -> Result<Carried<SampleResult>, String> {
        if result.order.len() != to.sizes_bytes.len() {
            return Err("the scenario has another number of transfers".to_owned());
        }
        Ok(Carried { candidate: candidate(to, result.order.clone()), repairs: Vec::new() })
    }

    fn report<'a>(
        scenario: &'a Scenario<Self>,
        plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(Box::new(SampleReport { scenario: &scenario.body, order: plan.map(|plan| &plan.result.order) }))
    }
}

struct SampleReport<'a> {
    scenario: &'a SampleScenario,
    order: Option<&'a Vec<u32>>,
}

fn name(transfer: u32) -> String {
    format!("transfer {transfer}")
}

impl Report for SampleReport<'_> {
    fn section(&self, section: &str, _deadline: Deadline) -> Result<Section, Unavailable> {
        if section == "link" {
            return Ok(self.link());
        }
        let order = self.order.ok_or_else(|| {
            Unavailable::absent("this section needs a plan", "solve the scenario and show the plan")
        })?;
        let spans = spans(self.scenario, order);
        match section {
            "order" => Ok(order_section(&spans)),
            "timeline" => Ok(timeline(&spans)),
            "waits" => Ok(waits(&spans)),
            "progress" => Ok(progress(&spans)),
            _ => Err(Unavailable::absent(format!("there is no section '{section}'"), "leave it out")),
        }
    }
}

impl SampleReport<'_> {
    fn link(&self) -> Section {
        let mut facts = Facts::new();
        facts.number("bandwidth_gbps", "bandwidth", Unit::GBPS, self.scenario.bandwidth_gbps);
        facts.add("transfers", "transfers", self.scenario.sizes_bytes.len());
        let bytes: u64 = self.scenario.sizes_bytes.iter().sum();
        facts.number("bytes", "to send", Unit::GIGABYTES, bytes).sentence("in all");
        Section::new("Link", facts)
    }
}

fn order_section(spans: &[(u32, f64, f64)]) -> Section {
    let columns = vec![
        Column::words("transfer", "transfer"),
        Column::numbers("start_s", "start", Unit::MILLISECONDS),
        Column::numbers("end_s", "end", Unit::MILLISECONDS).priority(2),
        Column::numbers("takes_s", "takes", Unit::MILLISECONDS).priority(1),
    ];
    let mut table = Table::new(["transfer", "transfers"], columns).overview(3).bar(3);
    for (transfer, start_s, end_s) in spans {
        let row = table.row(vec![
            Cell::new(name(*transfer)),
            Cell::new(*start_s),
            Cell::new(*end_s).tone(Tone::Answer),
            Cell::new(end_s - start_s).tone(Tone::Good),
        ]);
        row.item = Some(*transfer);
    }
    let longest = spans.last().map_or(0.0, |span| span.1);
    let answer = Phrase::new().answer(format!("{:.3} ms", longest * 1e3)).muted(" longest wait");
    Section::new("Order", table).context("first to last").answer(answer)
}

fn timeline(spans: &[(u32, f64, f64)]) -> Section {
    let span = |(transfer, start_s, end_s): &(u32, f64, f64)| Span {
        name: name(*transfer),
        start_s: *start_s,
        end_s: *end_s,
        item: Some(*transfer),
        ..Span::default()
    };
    let lane = Lane { name: "link".to_owned(), spans: spans.iter().map(span).collect(), ..Lane::default() };
    let end_s = spans.last().map_or(0.0, |span| span.2);
    Section::new("Timeline", Spans { lanes: vec![lane], end_s, ..Spans::default() })
}

fn waits(spans: &[(u32, f64, f64)]) -> Section {
    let names: Vec<String> = spans.iter().map(|span| name(span.0)).collect();
    let wait = |waiting: usize, sent: usize| {
        if sent < waiting { Cell::new(spans[sent].2 - spans[sent].1) } else { Cell::none() }
    };
    let count = spans.len();
    let cells = (0..count * count).map(|at| wait(at / count, at % count)).collect();
    Section::new(
        "Waits",
        Matrix {
            name: "wait_s",
            unit: Unit::MILLISECONDS.with_decimals(1),
            rows: names.clone(),
            columns: names,
            cells,
            symmetric: false,
            shaded: true,
            ..Default::default()
        },
    )
}

fn progress(spans: &[(u32, f64, f64)]) -> Section {
    let done: Vec<Point> =
        spans.iter().enumerate().map(|(at, span)| Point { at: span.2, value: (at + 1) as f64 }).collect();
    let columns =
        vec![Column::numbers("time_s", "time", Unit::MILLISECONDS), Column::counts("done", "transfers done")];
    let mut points = Table::new(["point", "points"], columns);
    for point in &done {
        points.row(vec![Cell::new(point.at), Cell::new(point.value)]);
    }
    let curve = Curve {
        name: "done".to_owned(),
        label: "done".to_owned(),
        unit: Unit::COUNT,
        points: done,
        tone: Tone::Answer,
        steps: true,
    };
    let curves = Curves {
        axis: "time_s",
        axis_label: "time",
        axis_unit: Unit::MILLISECONDS,
        axis_range: None,
        axis_is_log: false,
        values_are_log: false,
        curves: vec![curve],
        ..Default::default()
    };
    Section::empty("Progress").block("curve", "Curve", curves).block("points", "Points", points)
}

/// Exchanges neighbours until each transfer is at least as long as the one before it.
#[derive(Debug)]
struct Swap;

impl Method<Sample> for Swap {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: "swap",
            help: "Exchanges neighbouring transfers until each is at least as long as the one before it.",
            proves: true,
            hot_start: true,
            params: vec![ParamInfo::int(
                "passes",
                1,
                10_000,
                10_000,
                "Maximum number of passes over the \
                 order.",
            )],
        }
    }

    fn solve(
        &self,
        scenario: &Scenario<Sample>,
        params: &Params,
        cx: &mut Context<'_, Sample>,
    ) -> Result<Outcome, MethodError> {
        let body = &scenario.body;
        let mut order: Vec<u32> = (0..body.sizes_bytes.len() as u32).collect();
        if let Some(start) = cx.hot_start() {
            let before = start.plan.plan();
            match Sample::carry(&before.result, &before.scenario.body, body) {
                Ok(carried) => {
                    let value = carried.candidate.value;
                    order.clone_from(&carried.candidate.result.order);
                    let was = before.objective.value;
                    cx.hot_start_fate(HotStartFate::Accepted, "", Some(was), Some(value));
                }
                Err(why) => cx.hot_start_fate(HotStartFate::Rejected, why, None, None),
            }
        }
        let size = |transfer: u32| body.sizes_bytes[transfer as usize];
        let mut sorted = false;
        for _ in 0..params.count("passes") {
            cx.checkpoint()?;
            let found = candidate(body, order.clone());
            cx.incumbent(found.value, 0.0, "swap", move || found)?;
            sorted = order.is_sorted_by_key(|transfer| size(*transfer));
            if sorted {
                break;
            }
            for at in 1..order.len() {
                if size(order[at]) < size(order[at - 1]) {
                    order.swap(at, at - 1);
                }
            }
            cx.count_work(1);
        }
        // The mean end is lowest if the shortest transfers go first.
        cx.bound(mean_end(&spans(body, &shortest_first(body))));
        Ok(Outcome::done(if sorted { Status::Optimal } else { Status::Feasible }))
    }
}

/// Name of the format.
const ORDER: &str = "order";

impl Listed for Sample {
    const HELP: &'static str = "transfers that share a link, for tests";
    const IS_LISTED: bool = false;

    fn methods() -> Vec<Arc<dyn Method<Self>>> {
        vec![Arc::new(Swap)]
    }

    fn presets() -> Vec<Preset> {
        vec![Preset::new("sample-5", "five transfers that are ready in the worst order")]
    }

    fn preset(name: &str) -> Option<SampleScenario> {
        (name == "sample-5").then(|| SampleScenario {
            bandwidth_gbps: 100.0,
            sizes_bytes: [50, 40, 30, 20, 10].map(|size| size * 10_000_000).to_vec(),
        })
    }

    fn exporters() -> Vec<FormatInfo> {
        vec![
            FormatInfo::new(ORDER, "The order, one transfer per line.", SubjectSort::Plan, "txt")
                .leaving_out(&["the sizes"]),
        ]
    }

    fn export(
        subject: SubjectOf<'_, Self>,
        _against: Option<SubjectOf<'_, Self>>,
        format: &str,
        _params: &Params,
    ) -> Result<Vec<Artifact>, Problems> {
        let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
        let lines: Vec<String> = plan.plan().result.order.iter().map(|transfer| name(*transfer)).collect();
        let lines = lines.join("\n") + "\n";
        Ok(vec![Artifact::new(format!("{}.order.txt", file_stem(subject.name())), lines)])
    }
}

impl Models for Sample {}
