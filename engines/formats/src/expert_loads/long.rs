//! Long tables of expert loads: a row for each pair of layer and expert with tokens.

use super::table::{cells, count, index};
use super::{LoadFile, LoadGrid, MOST_COUNTS, MOST_TOKENS};
use crate::gz::Limits;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Names of the columns, each with its synonyms. A name in a file may also be longer and only begin with a synonym.
const NAMES: [(&str, &[&str]); 5] = [
    ("layer", &["layer"]),
    ("expert", &["expert"]),
    ("count", &["count", "topk_count", "tokens", "load"]),
    ("iteration", &["iteration", "step"]),
    ("rank", &["rank", "source_rank"]),
];

/// Positions of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongColumns {
    layer: usize,
    expert: usize,
    count: usize,
    iteration: Option<usize>,
    rank: Option<usize>,
}

/// Counts of a file that may omit pairs of layer and expert; the keys are iteration and layer, then rank and expert.
#[derive(Clone, Debug)]
pub(super) struct SparseLoads {
    rows: BTreeMap<(u64, u32), BTreeMap<(u64, u32), f64>>,
    /// Experts that have a row.
    pub(super) experts: BTreeSet<u32>,
    /// Highest rank, if the table has a rank column.
    ranks: Option<u64>,
}

fn plain(name: &str) -> String {
    name.trim_matches('"').trim().to_ascii_lowercase()
}

/// Returns `true` if a header names the experts of a dense table: a word with the numbers from 0 upward.
pub(super) fn numbered(header: &[&str]) -> bool {
    let stem = |name: &str| plain(name).trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let first = header.first().map(|name| stem(name)).unwrap_or_default();
    let mut names = header.iter().enumerate();
    names.all(|(at, name)| plain(name) == format!("{first}{at}"))
}

/// Returns `true` if a header names the columns of a long table, at least for layers and experts.
pub fn is_long_header(header: &[&str]) -> bool {
    let begins = |word: &str| header.iter().any(|name| plain(name).starts_with(word));
    begins("layer") && begins("expert")
}

/// Finds the columns of a header: a column whose name is one of [`NAMES`], otherwise a column whose name begins with
/// one.
pub(super) fn columns(header: &[&str]) -> Result<LongColumns, Problem> {
    let find = |column: usize| {
        let words = NAMES[column].1;
        let own = header.iter().position(|name| words.contains(&plain(name).as_str()));
        let begins = |name: &&str| words.iter().any(|word| plain(name).starts_with(word));
        own.or_else(|| header.iter().position(begins))
    };
    let [layer, expert, count, iteration, rank] = std::array::from_fn(find);
    if let (Some(layer), Some(expert), Some(count)) = (layer, expert, count) {
        return Ok(LongColumns { layer, expert, count, iteration, rank });
    }
    let missing = [layer, expert, count].into_iter().zip(NAMES).find(|(place, _)| place.is_none());
    let missing = missing.map_or("count", |(_, (name, _))| name);
    let known =
        |name: &&str| NAMES.iter().any(|(_, words)| words.iter().any(|word| plain(name).starts_with(word)));
    let unknown: Vec<&str> = header.iter().copied().filter(|name| !known(name)).take(8).collect();
    let columns: Vec<&str> = header.iter().copied().take(20).collect();
    let mut message = format!("has the columns {}, but none of {missing}", printable(&columns.join(", ")));
    if !unknown.is_empty() {
        let _ = write!(message, "; {} is not known", printable(&unknown.join(", ")));
    }
    let words: Vec<String> = NAMES.iter().map(|(_, words)| words.join(" or ")).collect();
    let remedy = format!("name the columns {}, optionally with a suffix, as in layer_id", words.join("; "));
    Err(Problem::new("line 1", message, remedy))
}

/// Reads the rows below a header.
pub(super) fn read<'a>(
    columns: &LongColumns,
    header: &[&str],
    lines: impl Iterator<Item = (usize, &'a str)>,
    limits: &Limits,
) -> Result<LoadFile, Problems> {
    let mut problems = Problems::new();
    let mut known: BTreeMap<(u64, u64, u64, u64), usize> = BTreeMap::new();
    let mut found =
        SparseLoads { rows: BTreeMap::new(), experts: BTreeSet::new(), ranks: columns.rank.map(|_| 0) };
    for (row, (at, line)) in lines.enumerate() {
        let place = format!("line {}", at + 1);
        if row >= limits.rows.min(MOST_COUNTS) {
            problems.add(place, "exceeds the maximum number of rows", "give fewer iterations");
            break;
        }
        let cells: Vec<&str> = cells(line).collect();
        if cells.len() != header.len() {
            let message = format!("has {} fields, but the header has {}", cells.len(), header.len());
            problems.add(place, message, "give every row all fields");
            continue;
        }
        let mut number = |column: Option<usize>| {
            let Some(column) = column else { return Some(0) };
            let found = index(cells[column]);
            if found.is_none() {
                let path = format!("{place}, {}", printable(header[column]));
                problems.add(path, format!("is '{}'", printable(cells[column])), "use an integer, 0 or more");
            }
            found
        };
        let key = (
            number(columns.iteration),
            number(Some(columns.layer)),
            number(columns.rank),
            number(Some(columns.expert)),
        );
        let Some(count) = count(cells[columns.count], MOST_TOKENS) else {
            let path = format!("{place}, {}", printable(header[columns.count]));
            let message = format!("is '{}'", printable(cells[columns.count]));
            problems.add(path, message, "use a count of tokens, 0 or more");
            continue;
        };
        let (Some(iteration), Some(layer), Some(rank), Some(expert)) = key else { continue };
        if let Some(before) = known.insert((iteration, layer, rank, expert), at + 1) {
            problems.add(place, format!("is for the same expert as line {before}"), "leave one out");
        }
        // Numbers of rows are below 2^32.
        let (layer, expert) = (layer as u32, expert as u32);
        found.rows.entry((iteration, layer)).or_default().insert((rank, expert), count);
        found.experts.insert(expert);
        found.ranks = found.ranks.map(|most| most.max(rank));
    }
    problems.into_result(LoadFile::sparse(found))
}

impl SparseLoads {
    /// Returns the number of experts: the highest number of an expert in the file plus 1.
    pub(super) fn highest(&self) -> u32 {
        self.experts.last().map_or(0, |expert| expert + 1)
    }

    /// Iterates over the layers with counts, as (iteration, layer).
    pub(super) fn layers(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.rows.keys().copied()
    }

    /// Returns matrices of `experts` experts for all of `layers`, with zeros for the counts that the file omits, and
    /// the number of these zeros.
    pub(super) fn grids(
        &self,
        experts: u32,
        layers: &BTreeSet<(u64, u32)>,
    ) -> Result<(Vec<LoadGrid>, usize), Problem> {
        let (ranks, width) = (self.ranks.map_or(1, |most| most as usize + 1), experts as usize);
        let total = layers.len().saturating_mul(ranks).saturating_mul(width);
        if total > MOST_COUNTS {
            let message = format!("has {ranks} ranks and {experts} experts, {total} counts in all");
            return Err(Problem::new("", message, format!("give at most {MOST_COUNTS} counts")));
        }
        let mut filled = total;
        let grids = layers.iter().map(|&(iteration, layer)| {
            let mut rows = vec![vec![0.0; width]; ranks];
            for (&(rank, expert), count) in self.rows.get(&(iteration, layer)).into_iter().flatten() {
                if let Some(place) = rows.get_mut(rank as usize).and_then(|row| row.get_mut(expert as usize))
                {
                    *place = *count;
                    filled -= 1;
                }
            }
            let place = format!("layer {layer} of iteration {iteration}");
            LoadGrid { place, iteration, layer, rows, ranked: self.ranks.is_some() }
        });
        let grids: Vec<LoadGrid> = grids.collect();
        Ok((grids, filled))
    }
}

/// Returns the number of experts in the files of one run. The files may omit experts without tokens. With a model, this
/// is the number of experts of the model. Without a model, or if files contain more experts than the model has, the
/// files must contain all experts.
pub(super) fn experts(files: &[&SparseLoads], model: Option<u32>) -> Result<u32, Problem> {
    let highest = files.iter().map(|file| file.highest()).max().unwrap_or(0);
    if let Some(model) = model.filter(|model| *model >= highest) {
        return Ok(model);
    }
    let named: BTreeSet<u32> = files.iter().flat_map(|file| file.experts.iter().copied()).collect();
    if named.len() < highest as usize {
        let first = (0..highest).find(|expert| !named.contains(expert)).unwrap_or_default();
        let of_model = model.map_or_else(String::new, |model| format!(", but the model has {model}"));
        let message = format!(
            "has counts for {} of {highest} experts: expert {first} has no row{of_model}",
            named.len()
        );
        let remedy = "set the model (model=), add a row for every expert, or correct the expert numbers";
        return Err(Problem::new("", message, remedy));
    }
    Ok(highest)
}

/// Returns a remark on pairs of layer and expert that a file omits.
pub(super) fn filled_note(filled: usize) -> Option<String> {
    let pairs = counted(filled as u64, "pair", "pairs");
    let have = if filled == 1 { "has" } else { "have" };
    (filled > 0).then(|| format!("{pairs} of layer and expert {have} no row; the import assumes 0 tokens"))
}
