//! Sections on the demand and circuits of a layer, on its NICs by NUMA node, and on all layers.

use super::timeline::{ONE_ALL_TO_ALL, bold, called};
use super::{ANALYTIC, ANALYTIC_SHORT};
use crate::plan::{CircuitAction, LayerPhase, LayerPlan, MoeResult, RegionCircuit};
use crate::scenario::MoeScenario;
use lightbay_core::report::{About, Cell, Column, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(3));
/// Maximum number of rows of a long table that an overview shows.
const OVERVIEW: usize = 16;
/// Maximum number of pairs of servers in the picture of all layers.
const MOST_PAIRS: usize = 66;

/// Returns the circuits that are set in a layer.
pub(super) fn set(layer: &LayerPlan) -> impl Iterator<Item = &RegionCircuit> {
    layer.circuits.iter().filter(|circuit| circuit.action != CircuitAction::Remove)
}

/// Returns a text on what carries the bytes of a pair of servers: `2 circuits`, `packet switches`.
pub(super) fn over(circuits: u32) -> String {
    match circuits {
        0 => "packet switches".to_owned(),
        1 => "1 circuit".to_owned(),
        many => format!("{many} circuits"),
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|server| format!("server {server}")).collect()
}

/// Returns the number of circuits between each pair of `n` servers, by row and column.
fn joined(layer: &LayerPlan, n: usize) -> Vec<u32> {
    let mut counts = vec![0_u32; n * n];
    for circuit in set(layer) {
        let (a, b) = (circuit.server_a as usize, circuit.server_b as usize);
        for at in [a * n + b, b * n + a] {
            if let Some(count) = counts.get_mut(at) {
                *count += 1;
            }
        }
    }
    counts
}

/// Returns the table of pairs of servers, those with most bytes first, with the circuits that carry the bytes.
fn pairs(layer: &LayerPlan, circuits: &[u32], n: usize) -> Table {
    let columns = vec![
        Column::words("from", "from"),
        Column::words("to", "to"),
        Column::counts("circuits", "circuits"),
        Column::numbers("bytes", "sends", Unit::GIGABYTES),
        Column::numbers("bytes_per_circuit", "a circuit", Unit::GIGABYTES),
    ];
    let mut table = Table::new(["pair", "pairs"], columns).overview(OVERVIEW).bar(3);
    let mut order: Vec<(usize, f64)> = layer.demand_bytes.iter().flatten().copied().enumerate().collect();
    order.retain(|(at, bytes)| at / n != at % n && *bytes > 0.0);
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    for (at, bytes) in order {
        let count = circuits[at];
        let tone = if count == 0 { Tone::Muted } else { Tone::Text };
        let each =
            if count == 0 { Cell::new("packets").tone(tone) } else { Cell::new(bytes / f64::from(count)) };
        table.row(vec![
            Cell::new(format!("server {}", at / n)),
            Cell::new(format!("server {}", at % n)),
            Cell::new(count).tone(tone),
            Cell::new(bytes),
            each,
        ]);
    }
    table
}

/// Returns the layer whose all-to-all takes longest; `None` without layers.
fn longest(result: &MoeResult) -> Option<&LayerPlan> {
    let time = |layer: &&LayerPlan| layer.all_to_all.all_to_all_ms;
    result.layers.iter().max_by(|a, b| time(a).total_cmp(&time(b)))
}

/// Matrices of a layer by pair of servers: bytes with circuits, circuits, changes to the next layer, and circuits as
/// lines.
struct LayerMatrices {
    demand: Matrix,
    circuits: Matrix,
    changes: Matrix,
    drawn: Matrix,
    pairs: Table,
    /// The pair of servers with the most bytes: `server 0 sends server 2 0.52 GB over 2 circuits`.
    most: Phrase,
    /// The cell of this pair.
    most_at: Option<u32>,
}

impl LayerMatrices {
    fn of(result: &MoeResult, layer: &LayerPlan) -> Self {
        let n = layer.demand_bytes.len();
        let inside = |at: usize| at / n == at % n;
        let now = joined(layer, n);
        // After the last layer, the next micro-batch starts with the first layer.
        let at = result.layers.iter().position(|other| other.layer == layer.layer).unwrap_or(0);
        let next = result.layers.get(at + 1).or(result.layers.first()).unwrap_or(layer);
        let then = joined(next, n);
        let change = |at: usize| i64::from(then[at]) - i64::from(now[at]);
        let all_bytes = || layer.demand_bytes.iter().flatten().copied().enumerate();
        let about = all_bytes().map(|(at, bytes)| {
            let (from, to) = (at / n, at % n);
            let phrase = Phrase::new().answer(format!("> server {from} to server {to}"));
            let size = format!("  {:.2} GB", bytes / 1e9);
            let sentence = if inside(at) {
                phrase.text(size).muted("  stay inside the server")
            } else {
                let same = change(at) == 0;
                let words = if same { "the same".to_owned() } else { format!("{:+}", change(at)) };
                phrase
                    .text(size)
                    .text(format!("  over {}", over(now[at])))
                    .muted(format!("; {words} in layer {}", next.layer))
            };
            About { item: Some(at as u32), sentence, details: Vec::new() }
        });
        let about: Vec<About> = about.collect();
        // One matrix shows both: the shade and the first number are the bytes, the second number is the number of
        // circuits.
        let bytes = all_bytes().map(|(at, bytes)| {
            let cell = Cell::new(bytes);
            if inside(at) { cell.tone(Tone::Muted) } else { cell.note(now[at].to_string()) }
        });
        let counts = now.iter().enumerate();
        let counts = counts.map(|(at, count)| if inside(at) { Cell::none() } else { Cell::new(*count) });
        let changes = (0..n * n).map(|at| match change(at) {
            _ if inside(at) => Cell::none(),
            0 => Cell::new(0).tone(Tone::Muted),
            some => Cell::new(some),
        });
        let line = |count: u32| if count == 0 { Cell::none().tone(Tone::Muted) } else { Cell::new(count) };
        let drawn: Vec<Cell> = now.iter().copied().map(line).collect();
        let matrix = |name, unit, cells, symmetric| Matrix {
            name,
            unit,
            rows: names(n),
            columns: names(n),
            cells,
            symmetric,
            shaded: true,
            about: about.clone(),
            ..Matrix::default()
        };
        let between = all_bytes().filter(|(at, _)| !inside(*at));
        let most = between.max_by(|a, b| a.1.total_cmp(&b.1));
        let most_at = most.map(|(at, _)| at as u32);
        let most = most.map_or_else(Phrase::new, |(at, bytes)| {
            Phrase::new().answer(format!("{:.2} GB", bytes / 1e9)).muted(format!(
                " from server {} to {} over {}",
                at / n,
                at % n,
                over(now[at])
            ))
        });
        // Only lines can be selected in the picture.
        let lines = about
            .iter()
            .zip(&now)
            .map(|(about, count)| About { item: about.item.filter(|_| *count > 0), ..about.clone() });
        let lines = lines.collect();
        Self {
            demand: matrix("bytes", Unit::GIGABYTES, bytes.collect(), false),
            circuits: matrix("circuits", Unit::COUNT, counts.collect(), true),
            changes: matrix("changes", Unit::COUNT.signed(), changes.collect(), true),
            drawn: Matrix { places: circle(n), about: lines, ..matrix("circuits", Unit::COUNT, drawn, true) },
            pairs: pairs(layer, &now, n),
            most,
            most_at,
        }
    }
}

/// Returns the section on bytes and circuits between the servers, in the layer whose all-to-all takes longest.
pub(super) fn demand(result: &MoeResult) -> Section {
    let Some(layer) = longest(result) else { return Section::empty("Demand and circuits") };
    let of = LayerMatrices::of(result, layer);
    Section::empty("Demand and circuits")
        .legend(format!(
            "layer {}, the slowest; rows: senders, columns: receivers; GB, then number of circuits; Layers has all layers",
            layer.layer
        ))
        .legend_in("circuits", "circuits between two servers")
        .legend_in("changes", "circuits added (+) or removed (-) for the next layer")
        .legend_in("drawn", "lines: number of circuits between two servers")
        .context(format!("layer {}, whose all-to-all takes longest", layer.layer))
        .answer(of.most)
        .usual(of.most_at)
        .block("demand", "Bytes of the dispatch, then circuits", of.demand)
        .block("circuits", "Circuits", of.circuits)
        .on_screens("changes", "", of.changes)
        .on_screens("drawn", "", of.drawn)
        .on_screens("pairs", "Pairs by bytes", of.pairs)
}

/// Returns the section on bytes and circuits between the servers in a layer.
///
/// # Errors
/// No such layer.
pub(super) fn of_layer(result: &MoeResult, number: u32) -> Result<Section, Unavailable> {
    let layer = result.layers.iter().find(|layer| layer.layer == number).ok_or_else(|| {
        Unavailable::absent(format!("layer {number} does not exist"), "name a layer of the stage")
    })?;
    let of = LayerMatrices::of(result, layer);
    let others: Vec<&str> = layer.other_exchanges.iter().map(|other| called(other.phase)).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!("; {} on other circuits", others.join(" and ")),
    };
    Ok(Section::empty(format!("layer {number}"))
        .context(format!("GB from row to column, then number of circuits{others}"))
        .answer(of.most)
        .block("demand", "", of.demand)
        .block("pairs", "Pairs by bytes", of.pairs))
}

/// Returns the positions of servers on a circle, as fractions of width and height.
fn circle(count: usize) -> Vec<[f64; 2]> {
    let angle = |at: usize| std::f64::consts::TAU * at as f64 / count.max(1) as f64;
    (0..count).map(|at| [0.5 + 0.42 * angle(at).sin(), 0.5 - 0.46 * angle(at).cos()]).collect()
}

/// Returns the section on the far ends of the NICs of every server, in the layer whose all-to-all takes longest.
pub(super) fn nics(scenario: &MoeScenario, result: &MoeResult) -> Section {
    let region = &scenario.region;
    let columns = vec![
        Column::counts("server", "server"),
        Column::counts("nic", "NIC"),
        Column::counts("numa_node", "NUMA node"),
        Column::words("leads_to", "leads to"),
        Column::words("change", "change"),
    ];
    let mut table = Table::new(["NIC", "NICs"], columns).overview(OVERVIEW);
    let Some(layer) = longest(result) else { return Section::new("NICs", table) };
    // Server at the other end, by server and NIC.
    let mut ends = Matrix {
        name: "leads_to",
        rows: (0..region.servers).map(|server| format!("NICs of server {server} lead to")).collect(),
        columns: (0..region.nics_per_server).map(|nic| nic.to_string()).collect(),
        ..Matrix::default()
    };
    for server in 0..region.servers {
        for nic in 0..region.nics_per_server {
            let here = |circuit: &&RegionCircuit| {
                (circuit.server_a, circuit.nic_a) == (server, nic)
                    || (circuit.server_b, circuit.nic_b) == (server, nic)
            };
            let circuit = set(layer).find(here);
            ends.cells.push(circuit.map_or_else(
                || Cell::none().tone(Tone::Muted),
                |circuit| Cell::new(circuit.server_a + circuit.server_b - server),
            ));
            ends.about.push(About { item: None, sentence: Phrase::new(), details: Vec::new() });
            let (leads, change, tone) = match circuit {
                Some(circuit) => {
                    let there = if circuit.server_a == server {
                        (circuit.server_b, circuit.nic_b)
                    } else {
                        (circuit.server_a, circuit.nic_a)
                    };
                    let change = if circuit.action == CircuitAction::Keep { "kept" } else { "set" };
                    (format!("server {}, NIC {}", there.0, there.1), change, Tone::Text)
                }
                None if region.is_failed(server, nic) => ("nothing: failed".to_owned(), "", Tone::Bad),
                None if region.eps_nics.contains(&nic) => ("packet switches".to_owned(), "", Tone::Muted),
                None => ("nothing: dark".to_owned(), "", Tone::Muted),
            };
            let node = region.numa(nic);
            table.row(vec![
                Cell::new(server),
                Cell::new(nic),
                Cell::new(node),
                Cell::new(leads).tone(tone),
                Cell::new(change),
            ]);
        }
    }
    let (all, joined) = (ends.cells.len(), 2 * set(layer).count());
    let answer = Phrase::new().answer(format!("{joined} of {all}")).muted(" NICs on circuits");
    Section::empty("NICs")
        .context(format!("layer {}", layer.layer))
        .answer(answer)
        .block("", "", table)
        .on_screens("ends", "", ends)
}

/// Returns the section on times and changes of every layer.
pub(super) fn layers(result: &MoeResult) -> Section {
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::numbers("all_to_all_ms", ONE_ALL_TO_ALL, MS),
        Column::numbers("step3_ocs_ms", "circuits", MS),
        Column::numbers("step3_eps_ms", "packet switches", MS).priority(1),
        Column::numbers("gather_ms", "gather", MS).priority(4),
        Column::numbers("local_ms", "inside", MS).priority(5),
        Column::counts("changes", "changes").priority(2),
        Column::counts("circuits", "circuits").priority(3),
        Column::counts("set", "set").priority(2),
        Column::counts("removed", "removed").priority(2),
        Column::numbers("stall_ms", "stalls", MS),
    ];
    let mut table = Table::new(["layer", "layers"], columns).overview(OVERVIEW).bar(1);
    let slowest = longest(result);
    for layer in &result.layers {
        let [set_here, removed_here] = changed(result, layer);
        let stall: f64 = layer.timeline.reconfigurations.iter().map(|change| change.stall_ms).sum();
        let times = layer.all_to_all;
        let changes = || layer.timeline.reconfigurations.iter().filter(|change| change.delay_ms > 0.0);
        let row = table.row(vec![
            Cell::new(layer.layer),
            Cell::new(times.all_to_all_ms)
                .tone(bold(slowest.is_some_and(|slowest| slowest.layer == layer.layer))),
            Cell::new(times.step3_ocs_ms),
            Cell::new(times.step3_eps_ms),
            Cell::new(times.gather_ms),
            Cell::new(times.local_ms),
            Cell::new(changes().count()),
            Cell::new(set(layer).count()),
            Cell::new(set_here),
            Cell::new(removed_here),
            Cell::new(stall).tone(if stall > 0.0 { Tone::Bad } else { Tone::Muted }),
        ]);
        row.item = Some(layer.layer);
        // Chunks overlap gathering with the exchange between servers, so the all-to-all is shorter than the sum.
        let apart_ms = times.all_to_all_ms - times.step3_ocs_ms.max(times.step3_eps_ms).max(times.local_ms);
        let hidden = if times.gather_ms - apart_ms > 5e-4 {
            format!(" of which {apart_ms:.3} not hidden")
        } else {
            String::new()
        };
        let sentence = Phrase::new()
            .answer(format!("> layer {}  {:.3} ms", layer.layer, times.all_to_all_ms))
            .text(format!("  circuits {:.3}, packet switches {:.3}", times.step3_ocs_ms, times.step3_eps_ms))
            .muted(format!(", gather {:.3}", times.gather_ms))
            .muted(hidden)
            .muted(format!(", inside {:.3} ms", times.local_ms));
        let others = layer.other_exchanges.iter();
        let others =
            others.filter(|other| (other.all_to_all.all_to_all_ms - times.all_to_all_ms).abs() >= 5e-4);
        let sentence = others.fold(sentence, |sentence, other| {
            let time_ms = other.all_to_all.all_to_all_ms;
            sentence.muted(format!("; {} on other circuits {time_ms:.3} ms", called(other.phase)))
        });
        let before: Vec<&str> = changes().map(|change| called(change.before)).collect();
        row.sentence = if before.is_empty() {
            sentence
        } else {
            sentence.muted(format!("; circuits change before {}", before.join(" and before ")))
        };
    }
    // If routes balance both networks, a screen shows their common time once.
    let mut shown = table.clone();
    let is_balanced =
        |layer: &LayerPlan| (layer.all_to_all.step3_ocs_ms - layer.all_to_all.step3_eps_ms).abs() < 5e-4;
    if result.layers.iter().all(is_balanced) {
        shown.columns.remove(3);
        shown.columns[2].label = "on each network".to_owned();
        for row in &mut shown.rows {
            row.cells.remove(3);
        }
    }
    let answer = slowest.map_or_else(Phrase::new, |layer| {
        let time = format!("{:.3} ms", layer.all_to_all.all_to_all_ms);
        Phrase::new().muted(format!("layer {} takes longest: ", layer.layer)).answer(time)
    });
    let section = Section::empty("Layers")
        .subject(ANALYTIC_SHORT)
        .answer(answer)
        .usual(slowest.map(|layer| layer.layer))
        .block("", "", table)
        .only_written()
        .on_screens("layers", "", shown)
        .remark(ANALYTIC);
    match circuits_by_layer(result) {
        Some(matrix) => {
            section.on_screens("circuits", "Pairs of servers whose circuits differ between layers", matrix)
        }
        None => section,
    }
}

/// Returns the circuits of an exchange of a layer.
fn set_in(layer: &LayerPlan, phase: LayerPhase) -> Vec<[u32; 4]> {
    let other = layer.other_exchanges.iter().find(|other| other.phase == phase);
    let circuits = other.map_or(&layer.circuits, |other| &other.circuits);
    let kept = circuits.iter().filter(|circuit| circuit.action != CircuitAction::Remove);
    kept.map(|at| [at.server_a, at.nic_a, at.server_b, at.nic_b]).collect()
}

/// Returns the numbers of circuits that are set and removed before the four exchanges of a layer in a micro-batch.
fn changed(result: &MoeResult, layer: &LayerPlan) -> [usize; 2] {
    let [dispatch, combine, dispatch_back, combine_back] = LayerPhase::EXCHANGES;
    let forward = result.layers.iter().flat_map(|layer| [(layer, dispatch), (layer, combine)]);
    let back = result.layers.iter().rev().flat_map(|layer| [(layer, dispatch_back), (layer, combine_back)]);
    let exchanges: Vec<_> = forward.chain(back).collect();
    // After its last exchange, a micro-batch is followed by the first exchange of the next one.
    let before = exchanges.iter().cycle().skip(exchanges.len().saturating_sub(1));
    let pairs = before.zip(&exchanges).filter(|(_, (of, _))| of.layer == layer.layer);
    pairs.fold([0, 0], |[set, removed], ((old, before), (new, at))| {
        let (old, new) = (set_in(old, *before), set_in(new, *at));
        let missing =
            |of: &[[u32; 4]], other: &[[u32; 4]]| of.iter().filter(|at| !other.contains(at)).count();
        [set + missing(&new, &old), removed + missing(&old, &new)]
    })
}

/// Returns the circuits of each layer by pair of servers whose number of circuits differs between layers; `None` with
/// too many such pairs, or without one.
fn circuits_by_layer(result: &MoeResult) -> Option<Matrix> {
    let n = result.layers.first()?.demand_bytes.len();
    let all: Vec<Vec<u32>> = result.layers.iter().map(|layer| joined(layer, n)).collect();
    let differs = |(a, b): &(usize, usize)| all.windows(2).any(|two| two[0][a * n + b] != two[1][a * n + b]);
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).filter(differs);
    let pairs: Vec<(usize, usize)> = pairs.collect();
    if pairs.is_empty() || pairs.len() > MOST_PAIRS {
        return None;
    }
    let cells = all.iter().flat_map(|counts| pairs.iter().map(|(a, b)| Cell::new(counts[a * n + b])));
    Some(Matrix {
        name: "circuits",
        unit: Unit::COUNT,
        rows: result.layers.iter().map(|layer| format!("layer {}", layer.layer)).collect(),
        columns: pairs.iter().map(|(a, b)| format!("{a}-{b}")).collect(),
        cells: cells.collect(),
        shaded: true,
        ..Matrix::default()
    })
}
