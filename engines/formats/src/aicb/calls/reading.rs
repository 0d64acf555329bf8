//! Reads a per-call CSV line by line: sections, headers, rows, iterations.

use lightbay_core::cells;
use lightbay_core::problem::{Problem, Problems, suggestion};

use super::fields::{KINDS, MAX_RANKS, call_kind, parse_ranks, present};
use super::{Call, CallGroup, CallKind, Calls, GROUPS, Phase, StageCalls};
use crate::aicb::order::Pass;
use crate::gz::Limits;
use crate::number;

/// Maximum elapsed time of one call, ms: a day.
const MAX_MS: f64 = 86_400e3;
/// Maximum number of pipeline stages.
const MAX_STAGES: usize = 4096;

/// Positions of the columns that are used.
#[derive(Clone, Copy)]
struct Columns {
    kind: usize,
    group: usize,
    group_size: usize,
    bytes: usize,
    stage: usize,
    additional: usize,
    elapsed: Option<usize>,
    count: Option<usize>,
    width: usize,
}

#[derive(Default)]
pub(super) struct Reading {
    pub(super) calls: Calls,
    columns: Option<Columns>,
    section_open: bool,
    iteration_start: usize,
    rows: usize,
    ranks: usize,
    /// Lines on which the sizes of tp, dp and ep were first stated.
    size_lines: [usize; 3],
    stages: std::collections::HashMap<String, u32>,
}

impl Reading {
    /// Reads one line; returns `false` if the rest of the file should not be read.
    pub(super) fn line(
        &mut self,
        number: usize,
        text: &str,
        limits: &Limits,
        problems: &mut Problems,
    ) -> bool {
        if text.is_empty() {
            return true;
        }
        if text.starts_with('[') {
            self.section(number, text, problems);
            return self.calls.sections.len() <= MAX_STAGES;
        }
        if text.starts_with("comm_type,") {
            self.header(number, text, problems);
            return true;
        }
        self.rows += 1;
        if self.rows > limits.rows {
            problems.add(
                format!("line {number}"),
                format!("has more than '{}' rows", limits.rows),
                "keep one iteration",
            );
            return false;
        }
        let Some(columns) = self.columns else {
            problems.add(
                format!("line {number}"),
                "is before the header",
                "the line 'comm_type,comm_group,...' must come first",
            );
            return false;
        };
        if let Err(problem) = self.row(number, text, columns, problems) {
            problems.push(problem);
        }
        true
    }

    fn section(&mut self, number: usize, text: &str, problems: &mut Problems) {
        self.end_section();
        let place = format!("line {number}");
        let expected = self.calls.sections.len();
        if expected >= MAX_STAGES {
            problems.add(place, format!("has more than {MAX_STAGES} stages"), "check the file");
            self.calls.sections.push(StageCalls::default());
            return;
        }
        let text = text.trim_end_matches([',', ' ', '\t']);
        if let Some(rest) = text.split_once("pp_stage").map(|(_, rest)| rest) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if digits.parse() != Ok(expected) {
                let remedy = format!("write pp_stage{expected}: stages are numbered from 0 without gaps");
                problems.add(place.clone(), format!("'pp_stage{digits}' is not the next stage"), remedy);
            }
        }
        let ranks = match parse_ranks(text, MAX_RANKS - self.ranks) {
            Ok(ranks) => ranks,
            Err(message) => {
                problems.add(place, message, "write '[ pp_stage0: [rank0, rank1] ]' or '[rank0 ~ rank127]'");
                Vec::new()
            }
        };
        self.ranks += ranks.len();
        self.calls.sections.push(StageCalls { ranks, ..StageCalls::default() });
        self.section_open = true;
        self.columns = None;
    }

    fn header(&mut self, number: usize, text: &str, problems: &mut Problems) {
        if !self.section_open {
            self.end_section();
            if !self.calls.sections.is_empty() {
                problems.add(
                    format!("line {number}"),
                    "is a second header without a stage line before it",
                    "write '[ pp_stageK: [rank...] ]' above each stage",
                );
            }
            self.calls.sections.push(StageCalls::default());
        }
        self.section_open = false;
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut missing = Vec::new();
        let mut find = |name: &'static str| {
            names.iter().position(|found| *found == name).unwrap_or_else(|| {
                missing.push(name);
                0
            })
        };
        let columns = Columns {
            kind: find("comm_type"),
            group: find("comm_group"),
            group_size: find("comm_group_size"),
            bytes: find("msg_size"),
            stage: find("stage"),
            additional: find("additional"),
            elapsed: names.iter().position(|found| *found == "_elapsed_time"),
            count: names.iter().position(|found| *found == "count"),
            width: names.len(),
        };
        if missing.is_empty() {
            self.columns = Some(columns);
        } else {
            problems.add(
                format!("line {number}"),
                format!("the header lacks '{}'", missing.join("', '")),
                "the header of AICB starts with comm_type,comm_group,comm_group_size,msg_size,stage",
            );
            self.columns = None;
        }
    }

    fn end_section(&mut self) {
        self.end_iteration();
        self.iteration_start = 0;
        self.section_open = false;
    }

    fn end_iteration(&mut self) {
        if let Some(section) = self.calls.sections.last_mut() {
            let end = section.calls.len();
            if end > self.iteration_start {
                section.iterations.push(self.iteration_start..end);
            }
            self.iteration_start = end;
        }
    }

    fn row(
        &mut self,
        number: usize,
        text: &str,
        columns: Columns,
        problems: &mut Problems,
    ) -> Result<(), Problem> {
        let fields = cells::fields(text);
        if fields.len() != columns.width {
            return Err(Problem::new(
                format!("line {number}"),
                format!("has '{}' fields, but the header has '{}'", fields.len(), columns.width),
                "quote fields that contain commas, or correct the line",
            ));
        }
        let wrong = |column: &str, message: String, remedy: String| {
            Problem::new(format!("line {number}, {column}"), message, remedy)
        };
        let field = |index: usize| present(&fields[index]);
        let kind_text = fields[columns.kind].trim();
        let kind_name = kind_text.strip_prefix("CommType.").unwrap_or(kind_text);
        if kind_name == "epoch_end" {
            self.end_iteration();
            return Ok(());
        }
        if !KINDS.contains(&kind_name) {
            return Err(wrong(
                "comm_type",
                format!("'{kind_text}' is not a kind of call"),
                suggestion(kind_name, &KINDS),
            ));
        }
        let group = match field(columns.group) {
            None => None,
            Some(name) => {
                let short = name.strip_prefix("CommGroup.").unwrap_or(name);
                let names = GROUPS.map(|(name, _)| name);
                let found = GROUPS.iter().find(|(known, _)| *known == short);
                let Some((_, group)) = found else {
                    let remedy = suggestion(short, &names);
                    return Err(wrong("comm_group", format!("'{name}' is not a group"), remedy));
                };
                Some(*group)
            }
        };
        if let Some(token) = field(columns.group_size) {
            let ranks = number::whole(token, 1, 1 << 24).map_err(|why| {
                wrong("comm_group_size", format!("'{token}' {why}"), "write the ranks of the group".into())
            })?;
            self.size(number, group, ranks, problems);
        }
        let stage = fields[columns.stage].trim();
        if stage.starts_with("init") {
            self.calls.init_rows += 1;
            return Ok(());
        }
        let kind = call_kind(kind_name, field(columns.additional))
            .map_err(|(column, message, remedy)| wrong(column, message, remedy))?;
        if group.is_none() && !matches!(kind, CallKind::Computation | CallKind::Barrier) {
            return Err(wrong(
                "comm_group",
                format!("is empty in a row '{kind_name}'"),
                "write the group, for example CommGroup.tp_group".into(),
            ));
        }
        // In a computation row, this column contains shapes.
        let bytes = match (kind, field(columns.bytes)) {
            (CallKind::Computation | CallKind::Barrier, _) => 0,
            (_, None) => {
                return Err(wrong("msg_size", "is empty".into(), "write the bytes of the call".into()));
            }
            (_, Some(token)) => number::bytes(token).map_err(|why| {
                wrong(
                    "msg_size",
                    format!("'{token}' {why}"),
                    "write a whole number of bytes, at most 1e13".into(),
                )
            })?,
        };
        let elapsed_s = match columns.elapsed.and_then(field) {
            None => None,
            Some(token) => Some(
                number::duration(token, MAX_MS).map_err(|why| {
                    wrong("_elapsed_time", format!("'{token}' {why}"), "write milliseconds or None".into())
                })? * 1e-3,
            ),
        };
        let count = match columns.count.and_then(field) {
            None => 1,
            Some(token) => number::whole(token, 1, 1_000_000).map_err(|why| {
                wrong("count", format!("'{token}' {why}"), "write how often the call is made".into())
            })? as u32,
        };
        if count > 1 && matches!(kind, CallKind::Send(_) | CallKind::Receive(_)) {
            return Err(wrong(
                "count",
                format!("is '{count}', but must be 1 for a pipeline transfer"),
                "write one row for each transfer, in the order of the transfers".into(),
            ));
        }
        let phase = if stage.starts_with("forward") {
            Phase::Pass(Pass::Forward)
        } else if stage.starts_with("backward") {
            Phase::Pass(Pass::Backward)
        } else {
            Phase::Step
        };
        let stage_name = self.stage_index(stage);
        let call = Call { kind, group, bytes, phase, stage_name, elapsed_s, count, line: number as u32 };
        if let Some(section) = self.calls.sections.last_mut() {
            section.calls.push(call);
        }
        Ok(())
    }

    fn stage_index(&mut self, stage: &str) -> u32 {
        if let Some(&index) = self.stages.get(stage) {
            return index;
        }
        let index = self.calls.stage_names.len() as u32;
        self.calls.stage_names.push(stage.to_owned());
        self.stages.insert(stage.to_owned(), index);
        index
    }

    /// Stores the size of a group; refuses a size that differs from the stored one.
    fn size(&mut self, number: usize, group: Option<CallGroup>, ranks: u64, problems: &mut Problems) {
        let sizes = &mut self.calls.sizes;
        let (slot, line) = match group {
            Some(CallGroup::Tp) => (&mut sizes.tp, &mut self.size_lines[0]),
            Some(CallGroup::Dp) => (&mut sizes.dp, &mut self.size_lines[1]),
            Some(CallGroup::Ep) => (&mut sizes.ep, &mut self.size_lines[2]),
            _ => return,
        };
        match *slot {
            None => (*slot, *line) = (Some(ranks), number),
            Some(first) if first != ranks => problems.add(
                format!("line {number}, comm_group_size"),
                format!("'{ranks}' differs from '{first}' in line {line}"),
                "a group must have the same size in the whole file",
            ),
            Some(_) => {}
        }
    }

    /// Makes the checks that need the whole file.
    pub(super) fn finish(&mut self, problems: &mut Problems) {
        self.end_section();
        if self.calls.sections.is_empty() {
            problems.add("", "the header 'comm_type,...' is missing", "give an AICB per-call CSV");
            return;
        }
        let iterations = self.calls.sections[0].iterations.len();
        for (stage, section) in self.calls.sections.iter().enumerate() {
            if section.iterations.is_empty() {
                problems.add(
                    format!("stage {stage}"),
                    "has no row inside an iteration",
                    "rows of an iteration have stages such as 'forward_step' and 'backward_step'",
                );
            } else if section.iterations.len() != iterations {
                problems.add(
                    format!("stage {stage}"),
                    format!("has '{}' iterations, but stage 0 has '{iterations}'", section.iterations.len()),
                    "all stages must have the same number of iterations; the file may be cut off",
                );
            }
        }
        let with_ranks = self.calls.sections.iter().filter(|s| !s.ranks.is_empty()).count();
        let first = self.calls.sections[0].ranks.len();
        if with_ranks > 0 {
            for (stage, section) in self.calls.sections.iter().enumerate() {
                if section.ranks.len() != first {
                    problems.add(
                        format!("stage {stage}"),
                        format!("has '{}' ranks, but stage 0 has '{first}'", section.ranks.len()),
                        "all stages must have the same number of ranks",
                    );
                }
            }
            let mut all: Vec<u32> =
                self.calls.sections.iter().flat_map(|s| s.ranks.iter().copied()).collect();
            all.sort_unstable();
            if let Some([rank, _]) = all.windows(2).find(|pair| pair[0] == pair[1]) {
                problems.add(format!("rank{rank}"), "is listed twice", "a rank must belong to one stage");
            }
        }
    }
}
