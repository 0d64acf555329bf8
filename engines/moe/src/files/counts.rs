//! Counts of tokens by expert, as trainers, servers and balancers write them.
//!
//! | shape | writer |
//! |---|---|
//! | CSV with a header: `layer,expert` and a column of counts, perhaps `iteration` and `rank` | routing studies |
//! | CSV of numbers alone: a row for each layer, or for each iteration | spreadsheets |
//! | JSON lines `{"iteration", "layer", "tokens"}` | own traces |
//! | JSON with `weight` by layer and expert | EPLB |
//! | JSON with `logical_count` by step, layer and expert | SGLang |
//! | JSON with `load_history` of `logical_expert_load` by layer and expert | vLLM |
//! | lines with `num_global_tokens_per_expert` and a list | Megatron |

use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::{brief, parse_json};
use serde_json::Value;
use std::collections::BTreeMap;

/// Rows of a table of numbers alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenseAxis {
    /// Layers of one iteration.
    Layers,
    /// Iterations of one layer.
    Iterations,
}

/// Most numbers that are read.
const MAX_NUMBERS: usize = 1 << 22;

/// Counts by iteration, layer and rank; a single rank 0 stands for the sum over all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadCounts {
    /// Rows of counts by expert.
    pub rows: BTreeMap<(u32, u32, u32), Vec<f64>>,
    /// Name of the shape, for a person.
    pub shape: &'static str,
}

impl ReadCounts {
    fn numbers(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    fn put(&mut self, key: (u32, u32, u32), place: &str, row: Vec<f64>, problems: &mut Problems) {
        if self.numbers() + row.len() > MAX_NUMBERS {
            problems.add(place, format!("makes more than {MAX_NUMBERS} numbers"), "give fewer iterations");
        } else if self.rows.insert(key, row).is_some() {
            let (iteration, layer, _) = key;
            let message = format!("gives layer {layer} of iteration {iteration} again");
            problems.add(place, message, "give each once; files of single ranks need a column or key 'rank'");
        }
    }
}

/// Reads a file of any shape.
///
/// # Errors
/// Every problem of the file.
pub fn read(bytes: &[u8], axis: DenseAxis) -> Result<ReadCounts, Problems> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Problem::new(
            "",
            "is no text",
            "write counts as CSV or JSON; of a PyTorch file: json.dumps(t.tolist())",
        )
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let mut problems = Problems::new();
    let mut counts = ReadCounts::default();
    let start = text.trim_start();
    if start.starts_with('{')
        && start.lines().filter(|line| line.trim_start().starts_with('{')).count() > 1
        && start.lines().next().is_some_and(|line| line.trim_end().ends_with('}'))
    {
        json_lines(start, &mut counts, &mut problems);
    } else if start.starts_with('{') || start.starts_with('[') {
        json(start.as_bytes(), &mut counts, &mut problems)?;
    } else if text.contains(MEGATRON) {
        megatron(text, &mut counts, &mut problems);
    } else {
        csv(text, axis, &mut counts, &mut problems);
    }
    if problems.is_empty() && counts.rows.is_empty() {
        problems.add("", "holds no counts", "give a table or JSON with counts by layer and expert");
    }
    problems.into_result(counts)
}

/// Words before the counts in logs of Megatron.
const MEGATRON: &str = "num_global_tokens_per_expert";

fn count(text: &str, place: &str, problems: &mut Problems) -> Option<f64> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if number.is_none() {
        problems.add(place, format!("'{}' is no count", text.trim()), "give numbers of tokens, 0 or more");
    }
    number
}

fn index(text: &str, place: &str, problems: &mut Problems) -> Option<u32> {
    let number = text.trim().parse::<u32>().ok().filter(|number| *number < 1 << 20);
    if number.is_none() {
        problems.add(
            place,
            format!("'{}' is no number of a layer, expert, rank or iteration", text.trim()),
            "count from 0",
        );
    }
    number
}

/// Tables: with a header one count in a line, without one a row of counts in a line.
fn csv(text: &str, axis: DenseAxis, counts: &mut ReadCounts, problems: &mut Problems) {
    let mut lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((_, first)) = lines.next() else { return };
    let header: Vec<String> = first.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let column = |name: &str| header.iter().position(|known| known == name);
    if let Some((layer, expert)) = column("layer").zip(column("expert")) {
        counts.shape = "a table with a count in each line";
        let named = ["count", "tokens", "topk_count", "load"].iter().find_map(|name| column(name));
        let Some(value) = named else {
            problems.add("line 1", "names no column of counts", "call it count, tokens, topk_count or load");
            return;
        };
        let (iteration, rank) = (column("iteration").or_else(|| column("step")), column("rank"));
        let mut cells: BTreeMap<(u32, u32, u32), BTreeMap<u32, f64>> = BTreeMap::new();
        for (number, line) in lines {
            let place = format!("line {}", number + 1);
            let fields: Vec<&str> = line.split(',').collect();
            if fields.len() != header.len() {
                let message = format!("has {} columns, the header has {}", fields.len(), header.len());
                problems.add(place, message, "give every column in every line");
                continue;
            }
            let mut at = |place_of: Option<usize>| match place_of {
                None => Some(0),
                Some(column) => index(fields[column], &place, problems),
            };
            let key = (at(iteration), at(Some(layer)), at(rank));
            let expert = at(Some(expert));
            let tokens = count(fields[value], &place, problems);
            let (Some(iteration), Some(layer), Some(rank)) = key else { continue };
            let (Some(expert), Some(tokens)) = (expert, tokens) else { continue };
            if expert >= 1 << 16 {
                problems.add(place, format!("names expert {expert}"), "give experts from 0 on");
            } else if cells.entry((iteration, layer, rank)).or_default().insert(expert, tokens).is_some() {
                problems.add(
                    place,
                    format!("gives expert {expert} of layer {layer} again"),
                    "give each once",
                );
            }
        }
        for (key, row) in cells {
            let most = row.keys().max().map_or(0, |most| *most as usize + 1);
            let mut values = vec![0.0; most];
            for (expert, tokens) in row {
                if let Some(value) = values.get_mut(expert as usize) {
                    *value = tokens;
                }
            }
            counts.put(key, "", values, problems);
        }
        return;
    }
    counts.shape = match axis {
        DenseAxis::Layers => "a table with a row for each layer",
        DenseAxis::Iterations => "a table with a row for each iteration",
    };
    let words = header.iter().any(|cell| cell.parse::<f64>().is_err());
    let rows = (!words).then_some((0, first)).into_iter().chain(lines);
    for (row, (number, line)) in rows.enumerate() {
        let place = format!("line {}", number + 1);
        let values: Vec<f64> = line.split(',').filter_map(|field| count(field, &place, problems)).collect();
        let key = match axis {
            DenseAxis::Layers => (0, row as u32, 0),
            DenseAxis::Iterations => (row as u32, 0, 0),
        };
        counts.put(key, &place, values, problems);
    }
}

/// A list of counts.
fn row(value: &Value, place: &str, problems: &mut Problems) -> Vec<f64> {
    let Value::Array(list) = value else {
        problems.add(place, format!("is {}", brief(value)), "give a list of counts");
        return Vec::new();
    };
    let wrong = |entry: &&Value| entry.as_f64().is_none_or(|number| !number.is_finite() || number < 0.0);
    if let Some(entry) = list.iter().find(wrong) {
        problems.add(place, format!("has {}", brief(entry)), "give numbers of tokens, 0 or more");
    }
    list.iter().filter_map(Value::as_f64).collect()
}

fn json_lines(text: &str, counts: &mut ReadCounts, problems: &mut Problems) {
    counts.shape = "a trace in JSON lines";
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", number + 1);
        let value = match parse_json(line.as_bytes()) {
            Ok(value) => value,
            Err(problem) => {
                problems.push(problem.under(&place));
                continue;
            }
        };
        let whole = |key: &str| value[key].as_u64().and_then(|number| u32::try_from(number).ok());
        let (Some(iteration), Some(layer)) = (whole("iteration"), whole("layer")) else {
            problems.add(place, "names no iteration or layer", "give 'iteration', 'layer' and 'tokens'");
            continue;
        };
        let Value::Array(ranks) = &value["tokens"] else {
            problems.add(place, "has no list 'tokens'", "give a list of counts for each rank");
            continue;
        };
        let single = whole("rank");
        for (at, tokens) in ranks.iter().enumerate() {
            let rank = single.unwrap_or(0) + at as u32;
            let values = row(tokens, &format!("{place} tokens[{at}]"), problems);
            counts.put((iteration, layer, rank), &place, values, problems);
        }
    }
}

fn json(bytes: &[u8], counts: &mut ReadCounts, problems: &mut Problems) -> Result<(), Problems> {
    let value = parse_json(bytes)?;
    let layers =
        |counts: &mut ReadCounts, problems: &mut Problems, list: &Value, iteration: u32, place: &str| {
            let Value::Array(list) = list else {
                problems.add(place, format!("is {}", brief(list)), "give a list for each layer");
                return;
            };
            for (layer, values) in list.iter().enumerate() {
                let place = format!("{place}[{layer}]");
                let values = row(values, &place, problems);
                counts.put((iteration, layer as u32, 0), &place, values, problems);
            }
        };
    if !value["weight"].is_null() {
        counts.shape = "weights of EPLB";
        layers(counts, problems, &value["weight"], 0, "weight");
    } else if let Value::Array(steps) = &value["logical_count"] {
        counts.shape = "logical counts of SGLang";
        for (step, list) in steps.iter().enumerate() {
            layers(counts, problems, list, step as u32, &format!("logical_count[{step}]"));
        }
    } else if let Value::Array(history) = &value["load_history"] {
        counts.shape = "load history of vLLM";
        for (step, entry) in history.iter().enumerate() {
            let place = format!("load_history[{step}].logical_expert_load");
            layers(counts, problems, &entry["logical_expert_load"], step as u32, &place);
        }
    } else if value["iteration"].is_u64() && value["tokens"].is_array() {
        let line = value.to_string();
        json_lines(&line, counts, problems);
    } else if value.is_array() {
        counts.shape = "a list of layers";
        layers(counts, problems, &value, 0, "");
    } else if !value["global_physical_count"].is_null() {
        let remedy = "give 'logical_count', which counts every expert once";
        problems.add("global_physical_count", "counts replicas, whose placement is not in the file", remedy);
    } else {
        let remedy =
            "give weight, logical_count, load_history, or JSON lines with iteration, layer and tokens";
        problems.add("", "has none of the known lists", remedy);
    }
    Ok(())
}

/// Logs: every line with the list is the next layer.
fn megatron(text: &str, counts: &mut ReadCounts, problems: &mut Problems) {
    counts.shape = "counts in a log of Megatron";
    let found = text.lines().enumerate().filter_map(|(number, line)| {
        let (_, rest) = line.split_once(MEGATRON)?;
        Some((number, rest.split_once('[')?.1.split(']').next()?))
    });
    for (layer, (number, list)) in found.enumerate() {
        let place = format!("line {}", number + 1);
        let values: Vec<f64> = list.split(',').filter_map(|field| count(field, &place, problems)).collect();
        counts.put((0, layer as u32, 0), &place, values, problems);
    }
}
