//! Formats of plans and pods for other programs, with the parameters of each format.
//!
//! | format | reader |
//! |---|---|
//! | `routes` | switch configuration, spreadsheets: every hop of every route with its virtual channel |
//! | `anynet` | BookSim: the network, and a second file with the routes |
//! | `circuits`, `changes` | controllers of the switches, technicians |
//! | `svg` | people in a review |
//! | `graphml`, `dot` | networkx, Gephi, Graphviz |
//! | `msccl` | MSCCL and RCCL executors: collectives on the links of the pod |
//! | `curve` | plots: results of the flit simulator |

use crate::model::topology::Topology;
use crate::plan::{Routing, TpuResult};
use crate::scenario::TpuScenario;
use lightbay_core::format::{FormatInfo, SecondSubject, SubjectSort};
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use std::fmt::Write as _;

pub mod circuits;
mod entry;
pub mod graph;
pub mod msccl;
mod picture;
pub mod routes;

pub(crate) use entry::{export, exporters, remarks};

/// Maximum size of a file; larger files are refused.
const MOST_BYTES: u64 = 2 << 30;

/// Plan or pod to be written.
#[derive(Clone, Copy, Debug)]
pub struct PodSubject<'a> {
    /// Name for formats that store a name.
    pub name: &'a str,
    /// Scenario of the plan or pod.
    pub scenario: &'a TpuScenario,
    /// Wiring of the pod.
    pub pod: &'a Topology,
    /// Result of the plan, if there is a plan.
    pub result: Option<&'a TpuResult>,
    /// Wiring before the change, for formats that list changes; if it is `None`, a parameter names this wiring.
    pub before: Option<&'a Topology>,
}

impl PodSubject<'_> {
    fn routing(&self) -> Result<&Routing, Problem> {
        self.result.and_then(|result| result.routing.as_ref()).ok_or_else(|| {
            Problem::new(
                "routing",
                "is not in the plan",
                "solve the scenario with --set routing=at --set with_routes=true",
            )
        })
    }
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Content of the file.
    pub text: String,
    /// Suffix of an accompanying file, which is appended to the name of the first file; `None` for the first file.
    pub beside: Option<&'static str>,
}

/// The formats that show the wiring or the plan.
pub fn formats() -> Vec<FormatInfo> {
    let format = |name, help, needs_plan, extension, params| {
        let of = if needs_plan { SubjectSort::Plan } else { SubjectSort::Either };
        FormatInfo::new(name, help, of, extension).leaving_out(leaves_out(name)).with(params)
    };
    vec![
        format(
            "routes",
            "The routing table as CSV: every hop of every route with router, next router and virtual channel.",
            true,
            "csv",
            vec![expand()],
        ),
        format(
            "anynet",
            "The network for BookSim; if the plan has routes, a second file has the routing table as \
             CSV.",
            false,
            "anynet",
            vec![
                ParamInfo::int("electrical_cycles", 1, 100_000, 50, "Latency of an electrical link.")
                    .unit("cycles"),
                ParamInfo::int("optical_cycles", 1, 100_000, 25, "Latency of an optical link.")
                    .unit("cycles"),
                ParamInfo::bool(
                    "with_routes",
                    true,
                    "If true, also writes the routing table, as a second file.",
                ),
            ],
        ),
        format(
            "circuits",
            "The circuits of all switches as CSV, for their controllers: port_in is the + port of cube_a \
             (number of cube_a + 1), port_out the - port of cube_b (number of cubes + number of cube_b + 1), \
             as in the port map and in the files for every vendor; ocs is 16 * dimension + u + 4 * v, where \
             (u, v) is the face position; side and index name the same ports on the faces of the cubes.",
            false,
            "csv",
            Vec::new(),
        ),
        FormatInfo {
            against: Some(SecondSubject {
                of: SubjectSort::Either,
                help: "the pod before the change; its failed switches hold no circuits",
                replaces: Some("from"),
            }),
            ..format(
                "changes",
                "The circuits to remove and to add on the way from a torus or another plan, in safe batches, as CSV.",
                false,
                "csv",
                vec![
                    ParamInfo::choice(
                        "from",
                        &["pt", "pdtt", "dark"],
                        "pt",
                        "State before the changes: the prismatic torus of the job shape, the doubly \
                         twisted torus, or no circuits.",
                    ),
                    ParamInfo::int(
                        "switches_per_batch",
                        1,
                        48,
                        48,
                        "Number of switches that change at the same time; with fewer, more of the pod \
                         stays in service.",
                    ),
                ],
            )
        },
        format(
            "svg",
            "Picture for a review: circuits between cubes by dimension, and the rings of cubes that \
             every switch forms; also readable in black and white.",
            false,
            "svg",
            Vec::new(),
        ),
        format("graphml", "The links as GraphML, for networkx and Gephi.", false, "graphml", vec![level()]),
        format("dot", "The links as DOT, for Graphviz.", false, "dot", vec![level()]),
        format(
            "msccl",
            "A collective on the links of the pod as MSCCL XML, up to 256 chips.",
            false,
            "xml",
            vec![
                ParamInfo::choice(
                    "collective",
                    &["allgather", "reduce_scatter", "allreduce", "alltoall"],
                    "allgather",
                    "Collective to schedule; an all-to-all follows the routes of the plan.",
                ),
                ParamInfo::choice(
                    "protocol",
                    &["Simple", "LL", "LL128"],
                    "Simple",
                    "Protocol of the connections.",
                ),
                ParamInfo::int(
                    "min_bytes",
                    0,
                    1 << 50,
                    0,
                    "Minimum buffer size for which the runtime \
                     uses the schedule.",
                )
                .unit("B"),
                ParamInfo::int(
                    "max_bytes",
                    0,
                    1 << 50,
                    1 << 40,
                    "Maximum buffer size for which the runtime uses the schedule.",
                )
                .unit("B"),
                ParamInfo::int("seed", 0, i64::from(u32::MAX), 1, "Seed of the search for the schedule."),
            ],
        ),
        format(
            "curve",
            "Result of the flit simulator as CSV: delivered rate and latency for each offered rate.",
            true,
            "csv",
            Vec::new(),
        ),
    ]
}

/// Returns the parts of a plan that are not in the files of a format.
fn leaves_out(format: &str) -> &'static [&'static str] {
    const ROUTES: &str = "the routes and their virtual channels";
    const RATES: &str = "the throughput and its bounds";
    const WIRING: &str = "the circuits";
    const SIMULATED: &str = "the results of the simulator";
    const FAULTS: &str = "the cases of failed switches";
    match format {
        "routes" => &[WIRING, RATES, FAULTS, SIMULATED],
        "anynet" => &[
            "the switch of each circuit",
            "the virtual channels, which BookSim assigns itself",
            RATES,
            FAULTS,
            SIMULATED,
        ],
        "circuits" | "changes" => {
            &[ROUTES, RATES, FAULTS, SIMULATED, "the electrical links, which no switch carries"]
        }
        "svg" => &["the ports on the switches", ROUTES, FAULTS, SIMULATED],
        "graphml" | "dot" => &["the ports on the switches", ROUTES, RATES, FAULTS, SIMULATED],
        "msccl" => &["the circuits", "the virtual channels", RATES, FAULTS, SIMULATED],
        _ => &[WIRING, ROUTES, RATES, FAULTS],
    }
}

fn expand() -> ParamInfo {
    ParamInfo::bool(
        "expand",
        true,
        "If true, writes the routes of all sources; if false, a symmetric pod gets only the routes from \
         cube 0.",
    )
}

fn level() -> ParamInfo {
    ParamInfo::choice(
        "level",
        &["chips", "cubes"],
        "chips",
        "Nodes of the graph: chips, or cubes with one edge for all circuits between two of them.",
    )
}

/// Writes a plan or pod in a format.
///
/// # Errors
/// Parts that the plan or pod lacks, or a file that would be too large.
pub fn write(format: &str, subject: &PodSubject<'_>, params: &Params) -> Result<Vec<File>, Problems> {
    let alone = |text: String| Ok(vec![File { text, beside: None }]);
    // Circuits of failed switches carry no traffic.
    let working = subject.pod.failing(&subject.scenario.failed_ocs);
    let subject = &PodSubject { pod: &working, ..*subject };
    match format {
        "routes" => alone(routes::table(subject.pod, subject.routing()?, params.bool("expand"))?),
        "anynet" => {
            let cycles =
                |name: &str| params.int(name).and_then(|value| u32::try_from(value).ok()).unwrap_or(1);
            let network = routes::anynet(subject.pod, cycles("electrical_cycles"), cycles("optical_cycles"));
            let mut files = vec![File { text: lightbay_formats::anynet::write(&network), beside: None }];
            if params.bool("with_routes")
                && let Ok(routing) = subject.routing()
            {
                let text = routes::table(subject.pod, routing, true)?;
                files.push(File { text, beside: Some(".routes.csv") });
            }
            Ok(files)
        }
        "circuits" => alone(circuits::table(subject.pod)),
        "changes" => {
            let named = match subject.before {
                Some(_) => None,
                None => circuits::before(subject, params.text("from").unwrap_or("pt"))?,
            };
            let before = subject.before.or(named.as_ref());
            alone(circuits::changes(before, subject.pod, params.count("switches_per_batch"))?)
        }
        "graphml" | "dot" => {
            let link_gbyte_per_s = subject.scenario.simulate.clone().unwrap_or_default().link_gbyte_per_s;
            let graph = match params.text("level") {
                Some("cubes") => graph::cubes(subject.name, subject.pod, link_gbyte_per_s),
                _ => graph::chips(subject.name, subject.pod, link_gbyte_per_s),
            };
            alone(match format {
                "graphml" => lightbay_formats::graph::graphml(&graph),
                _ => lightbay_formats::graph::dot(&graph),
            })
        }
        "svg" => alone(picture::svg(subject)),
        "msccl" => alone(msccl::text(subject, params)?),
        "curve" => alone(curve(subject)?),
        _ => Err(Problem::new(
            "to",
            format!("'{format}' is not an export format of kind tpu"),
            "see the list of formats",
        )
        .into()),
    }
}

/// Returns, as CSV, the delivered rate and the mean latency that the simulator measured at each offered rate.
fn curve(subject: &PodSubject<'_>) -> Result<String, Problem> {
    let simulation = subject.result.and_then(|result| result.simulation.as_ref()).ok_or_else(|| {
        Problem::new("simulation", "is not in the plan", "solve a scenario with a block 'simulate'")
    })?;
    let clock_ghz = subject.scenario.simulate.clone().unwrap_or_default().clock_ghz;
    let mut text = String::from(
        "offered_flits_per_cycle_per_node,delivered_flits_per_cycle_per_node,mean_latency_cycles,mean_latency_ns,\
         allocator,speedup\n",
    );
    let routers = format!("{},{}", simulation.allocator.word(), simulation.speedup);
    for (offered, delivered, latency) in &simulation.curve {
        let _ = writeln!(text, "{offered},{delivered},{latency},{},{routers}", latency / clock_ghz);
    }
    Ok(text)
}

/// Refuses a text that would be too large, before it is written.
fn fits(bytes: u64, remedy: &str) -> Result<(), Problem> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    Err(Problem::new("", format!("the file would have {:.1} GB", bytes as f64 / 1e9), remedy))
}

/// Returns the error of a planner as problems of an export.
fn problems_of(error: MethodError) -> Problems {
    match error {
        MethodError::Invalid(problems) => problems,
        other => Problem::new("", other.to_string(), "try again").into(),
    }
}

#[cfg(test)]
mod tests;
