//! Expert loads in JSON: tensors of EPLB, recorders of SGLang and vLLM, JSON lines, and lines of Megatron.

use super::grids::Grids;
use super::{LoadAxis, LoadFile, LoadGrid, LoadOptions, MOST_TOKENS, UsedOptions};
use crate::gz::StoredText;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_core::read::brief;
use serde_json::{Map, Value};

type ReadLoads = Result<LoadFile, Problems>;

/// Reads one JSON document, or one document per line.
pub(super) fn read(file: &StoredText, options: &LoadOptions) -> ReadLoads {
    let text = file.text.trim_start();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let whole_line = first.trim_end().ends_with('}') && first.contains("\"tokens\"");
    if whole_line {
        return json_lines(file);
    }
    if first.contains("\"tpe\"") {
        return of_own_experts(file);
    }
    let value = file.json(text)?;
    match &value {
        Value::Object(map) => object(map, options),
        value => tensor("", value, options),
    }
}

fn object(map: &Map<String, Value>, options: &LoadOptions) -> ReadLoads {
    if let Some(value) = map.get("logical_count") {
        return tensor("logical_count", value, options);
    }
    if let Some(history) = map.get("load_history") {
        return load_history(history);
    }
    for key in ["weight", "logical_expert_load"] {
        if let Some(value) = map.get(key) {
            return by_layer(key, value);
        }
    }
    if map.contains_key("global_physical_count") {
        let message = "counts the replicas of experts, not the experts";
        let remedy = "record logical_count, or add up the counts of the replicas of each expert";
        return Err(Problem::new("global_physical_count", message, remedy).into());
    }
    let keys: Vec<String> = map.keys().take(6).map(|key| printable(key)).collect();
    let message = format!("has the keys {}, but none that contains expert loads", keys.join(", "));
    let remedy = "give logical_count, load_history, weight, or lines with iteration, layer and tokens";
    Err(Problem::new("", message, remedy).into())
}

/// Reads a tensor with the dimensions step, layer and expert, or a table with a column for each expert. The rows of a
/// table under a key are layers; the option `axis` states whether the rows of a file that is only a table are layers or
/// iterations.
fn tensor(path: &str, value: &Value, options: &LoadOptions) -> ReadLoads {
    let depth = depth(value);
    match depth {
        3 => {
            let mut grids = Vec::new();
            let mut problems = Problems::new();
            for (step, layers) in value.as_array().into_iter().flatten().enumerate() {
                layered(&format!("{path}[{step}]"), layers, step as u64, &mut grids, &mut problems);
            }
            problems.into_result(LoadFile::dense(grids, UsedOptions::default()))
        }
        2 if path.is_empty() => {
            let rows = value.as_array().map_or(0, Vec::len);
            let axis = options.axis.or((rows == 1).then_some(LoadAxis::Layers));
            let Some(axis) = axis else { return Err(ambiguous(rows)) };
            let mut grids = layers(path, value)?;
            along(axis, &mut grids);
            Ok(LoadFile::dense(grids, UsedOptions { axis: true, ..UsedOptions::default() }))
        }
        2 => by_layer(path, value),
        depth => {
            let message = format!("is nested {depth} lists deep");
            Err(Problem::new(path, message, "give lists of steps, layers and experts").into())
        }
    }
}

/// Returns the problem of a table whose rows may be layers or iterations.
pub(super) fn ambiguous(rows: usize) -> Problems {
    let message = format!("has {rows} rows, which may be layers or iterations");
    Problem::new("", message, "set the meaning of the rows: axis=layers or axis=iterations").into()
}

/// Interprets rows, which were read as layers, according to the axis.
pub(super) fn along(axis: LoadAxis, grids: &mut [LoadGrid]) {
    if axis == LoadAxis::Iterations {
        for grid in grids {
            grid.iteration = u64::from(grid.layer);
            grid.layer = 0;
        }
    }
}

fn depth(value: &Value) -> usize {
    let mut depth = 0;
    let mut at = Some(value);
    while let Some(Value::Array(list)) = at {
        depth += 1;
        at = list.first();
    }
    depth
}

fn by_layer(path: &str, value: &Value) -> ReadLoads {
    Ok(LoadFile::dense(layers(path, value)?, UsedOptions::default()))
}

fn layers(path: &str, value: &Value) -> Result<Vec<LoadGrid>, Problems> {
    let mut problems = Problems::new();
    let mut grids = Vec::new();
    layered(path, value, 0, &mut grids, &mut problems);
    problems.into_result(grids)
}

fn load_history(history: &Value) -> ReadLoads {
    let mut problems = Problems::new();
    let mut grids = Vec::new();
    let Some(entries) = history.as_array() else {
        let message = format!("is {}", brief(history));
        return Err(Problem::new("load_history", message, "give a list").into());
    };
    for (at, entry) in entries.iter().enumerate() {
        let path = format!("load_history[{at}].logical_expert_load");
        match entry.get("logical_expert_load") {
            Some(layers) => layered(&path, layers, at as u64, &mut grids, &mut problems),
            None => problems.add(path, "is missing", "add it"),
        }
    }
    problems.into_result(LoadFile::dense(grids, UsedOptions::default()))
}

/// Reads the layers of one iteration, each a list of counts.
fn layered(path: &str, value: &Value, iteration: u64, grids: &mut Vec<LoadGrid>, problems: &mut Problems) {
    let Some(layers) = value.as_array() else {
        problems.add(path, format!("is {}", brief(value)), "give a list of layers");
        return;
    };
    for (layer, value) in layers.iter().enumerate() {
        let place = format!("{path}[{layer}]");
        if let Some(row) = row(&place, value, problems) {
            grids.push(LoadGrid { place, iteration, layer: layer as u32, rows: vec![row], ranked: false });
        }
    }
}

/// Reads a list of counts.
fn row(path: &str, value: &Value, problems: &mut Problems) -> Option<Vec<f64>> {
    let Some(list) = value.as_array() else {
        problems.add(path, format!("is {}", brief(value)), "give a list of counts");
        return None;
    };
    let mut counts = Vec::with_capacity(list.len());
    for (expert, value) in list.iter().enumerate() {
        match value.as_f64().filter(|count| (0.0..=MOST_TOKENS).contains(count)) {
            Some(count) => counts.push(count),
            None => problems.add(
                format!("{path}[{expert}]"),
                format!("is {}", brief(value)),
                "use a count of tokens, 0 or more",
            ),
        }
    }
    (counts.len() == list.len()).then_some(counts)
}

/// Reads a matrix of counts: one list for the sum over the ranks, a list for each rank, or a list of ranks for each of
/// several groups of ranks.
fn matrix(place: &str, value: &Value, problems: &mut Problems) -> Option<(Vec<Vec<f64>>, bool)> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    match depth(value) {
        1 => row(place, value, problems).map(|row| (vec![row], false)),
        2 => {
            let rows =
                list.iter().enumerate().map(|(at, value)| row(&format!("{place}[{at}]"), value, problems));
            let rows: Vec<Option<Vec<f64>>> = rows.collect();
            rows.into_iter().collect::<Option<_>>().map(|rows| (rows, true))
        }
        3 => {
            let mut rows = Vec::new();
            for (at, group) in list.iter().enumerate() {
                rows.extend(matrix(&format!("{place}[{at}]"), group, problems)?.0);
            }
            Some((rows, true))
        }
        _ => {
            problems.add(
                place,
                format!("is {}", brief(value)),
                "give counts by expert, or by rank and expert",
            );
            None
        }
    }
}

/// Parses the JSON object on a line.
fn object_of(file: &StoredText, line: &str, place: &str, problems: &mut Problems) -> Option<Value> {
    let read = file.json(line);
    read.map_err(|problem| problems.add(place, problem.message, "write one object per line")).ok()
}

/// Reads an integer of an object, up to the maximum of its type.
fn whole<T: TryFrom<u64>>(value: &Value, key: &str, place: &str, problems: &mut Problems) -> Option<T> {
    let found = value.get(key).and_then(Value::as_u64).and_then(|number| T::try_from(number).ok());
    if found.is_none() {
        let what = value.get(key).map_or_else(|| "missing".to_owned(), brief);
        problems.add(format!("{place}, {key}"), format!("is {what}"), "use an integer, 0 or more");
    }
    found
}

fn json_lines(file: &StoredText) -> ReadLoads {
    let mut problems = Problems::new();
    let mut grids = Grids::default();
    for (at, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", at + 1);
        let Some(value) = object_of(file, line, &place, &mut problems) else { continue };
        let iteration = whole(&value, "iteration", &place, &mut problems);
        let layer = whole(&value, "layer", &place, &mut problems);
        let Some(tokens) = value.get("tokens") else {
            problems.add(place, "has no tokens", "give counts by rank and expert");
            continue;
        };
        let found = matrix(&format!("{place}, tokens"), tokens, &mut problems);
        if let (Some((rows, ranked)), Some(iteration), Some(layer)) = (found, iteration, layer) {
            grids.push(LoadGrid { place, iteration, layer, rows, ranked })?;
        }
    }
    problems.into_result(LoadFile::dense(grids.list, UsedOptions::default()))
}

/// Reads lines that Megatron saves per rank: `{"iter": 40, "block": "decoder", "layer": 1, "tpe": [[37, 38], [51,
/// 46]]}`, a list of micro-batches, each with the counts of the experts of this rank. Micro-batches are summed; blocks
/// for multi-token prediction are omitted.
fn of_own_experts(file: &StoredText) -> ReadLoads {
    let mut problems = Problems::new();
    let mut grids = Grids::default();
    let mut others: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for (at, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", at + 1);
        let Some(value) = object_of(file, line, &place, &mut problems) else { continue };
        let block = value.get("block").and_then(Value::as_str).unwrap_or("decoder");
        if block != "decoder" {
            *others.entry(printable(block)).or_default() += 1;
            continue;
        }
        let iteration = whole(&value, "iter", &place, &mut problems);
        let layer = whole(&value, "layer", &place, &mut problems);
        let Some(tokens) = value.get("tpe").filter(|tokens| depth(tokens) == 2) else {
            problems.add(
                format!("{place}, tpe"),
                "is not a list of micro-batches",
                "give counts by micro-batch and expert",
            );
            continue;
        };
        let found = matrix(&format!("{place}, tpe"), tokens, &mut problems);
        let (Some((rows, _)), Some(iteration), Some(layer)) = (found, iteration, layer) else { continue };
        let experts = rows.first().map_or(0, Vec::len);
        if let Some(row) = rows.iter().find(|row| row.len() != experts) {
            let message = format!("has {} experts in one micro-batch and {experts} in another", row.len());
            problems.add(format!("{place}, tpe"), message, "give every micro-batch the same experts");
            continue;
        }
        let sums = (0..experts).map(|expert| rows.iter().map(|row| row[expert]).sum()).collect();
        grids.push(LoadGrid { place, iteration, layer, rows: vec![sums], ranked: false })?;
    }
    let mut notes: Vec<String> = others
        .into_iter()
        .map(|(block, count)| format!("{} of block {block} omitted", counted(count, "line", "lines")))
        .collect();
    notes.push("layers are counted within a pipeline stage, and the file does not name the stage".to_owned());
    problems.into_result(LoadFile::of_own_experts(grids.list, notes))
}

/// Reads lines of a log that contain `num_global_tokens_per_expert` and a list, optionally after iteration and layer.
pub(super) fn megatron(file: &StoredText, options: &LoadOptions) -> ReadLoads {
    const NAME: &str = "num_global_tokens_per_expert";
    let mut problems = Problems::new();
    let mut grids = Grids::default();
    let mut unnumbered = 0_u64;
    for (at, line) in file.text.lines().enumerate() {
        let Some((before, after)) = line.split_once(NAME) else { continue };
        let place = format!("line {}", at + 1);
        let list = after.find('[').zip(after.rfind(']')).filter(|(from, to)| from < to);
        let parsed = list.map(|(from, to)| file.json(&after[from..=to]));
        let Some(Ok(value)) = parsed else {
            problems.add(
                place,
                format!("has no list after {NAME}"),
                "print the counts as a list: tensor.tolist()",
            );
            continue;
        };
        let iteration = number_after(before, "iteration").or_else(|| number_after(before, "step"));
        let layer = number_after(before, "layer");
        let (iteration, layer) = match (iteration, layer, options.layers) {
            (Some(iteration), Some(layer), _) => (iteration, layer),
            (iteration, Some(layer), _) => (iteration.unwrap_or(0), layer),
            (None, None, Some(layers)) if layers > 0 => {
                let next = unnumbered;
                unnumbered += 1;
                (next / u64::from(layers), next % u64::from(layers))
            }
            _ => {
                let remedy = "print 'iteration N layer M' before the list, or set the number of consecutive \
                     layers: layers=";
                problems.add(place, "does not name its layer", remedy);
                continue;
            }
        };
        let Ok(layer) = u32::try_from(layer) else {
            problems.add(place, format!("has layer {layer}"), "use an integer below 2^32");
            continue;
        };
        if let Some((rows, ranked)) = matrix(&place, &value, &mut problems) {
            grids.push(LoadGrid { place, iteration, layer, rows, ranked })?;
        }
    }
    let used = UsedOptions { layers: unnumbered > 0, ..UsedOptions::default() };
    problems.into_result(LoadFile::dense(grids.list, used))
}

/// Returns the number after the last `word` of a text.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once(word)?;
    let rest = rest.trim_start_matches([' ', '=', ':', '_', '\t']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
