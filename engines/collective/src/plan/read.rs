//! Reading the result of a plan from JSON, all problems at once. Only form is checked here.

use super::compact::CompactPlan;
use super::{
    BoundClaim, ChunkPiece, CollectiveResult, Discipline, FloorClaim, FloorProof, PieceSend, PlanTime,
    ScheduleClaims, SizePoint, SizeRange,
};
use crate::scenario::SwitchHop;
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, whole_numbers};

/// Largest number of a plan.
const HUGE: f64 = 1e18;
/// Largest id or epoch.
const MOST: i64 = u32::MAX as i64 / 8;
/// Largest size of a range, bytes.
const MOST_BYTES: i64 = 1 << 60;

impl CollectiveResult {
    /// Reads the keys of a `result`. The caller finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let ranges = match fields.optional("ranges") {
            None => Some(Vec::new()),
            Some(_) => fields.each("ranges", problems, range),
        };
        Self::of_one_size(fields, problems).zip(ranges).map(|(result, ranges)| Self { ranges, ..result })
    }

    /// Reads a schedule without ranges.
    fn of_one_size(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let time = fields.object("time", problems).and_then(|mut inner| {
            let time = time(&mut inner, problems);
            inner.finish(problems);
            time
        });
        let pieces = fields.each("pieces", problems, piece);
        let sends = fields.each("sends", problems, |fields, problems| {
            let mut number = |key| fields.int(key, 0..=MOST, problems).map(|number| number as u32);
            let (piece, from, to, epoch) = (number("piece"), number("from"), number("to"), number("epoch"));
            Some(PieceSend { piece: piece?, from: from?, to: to?, epoch: epoch? })
        });
        let trees = match fields.optional("trees") {
            None => Some(Vec::new()),
            Some(_) => fields.each("trees", problems, CompactPlan::read),
        };
        let claims = fields.object("claims", problems).and_then(|mut inner| {
            let claims = claims(&mut inner, problems);
            inner.finish(problems);
            claims
        });
        Some(Self {
            time: time?,
            pieces: pieces?,
            sends: sends?,
            trees: trees?,
            ranges: Vec::new(),
            claims: claims?,
        })
    }
}

/// A range of sizes with its schedule.
fn range(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SizeRange> {
    let mut bytes = |key| fields.int(key, 0..=MOST_BYTES, problems).map(i64::unsigned_abs);
    let (min, max, planned) = (bytes("min_bytes"), bytes("max_bytes"), bytes("planned_for_bytes"));
    let schedule = fields.object("schedule", problems).and_then(|mut inner| {
        let schedule = CollectiveResult::of_one_size(&mut inner, problems);
        inner.finish(problems);
        schedule
    });
    let points = fields.each("points", problems, |fields, problems| {
        let bytes = fields.int("output_buffer_bytes", 1..=MOST_BYTES, problems).map(i64::unsigned_abs);
        let finish_us = fields.float("finish_us", 0.0..=HUGE, problems);
        let floor = match fields.optional("floor") {
            None => Some(None),
            Some(_) => proof("floor", fields, problems).map(Some),
        };
        Some(SizePoint { output_buffer_bytes: bytes?, finish_us: finish_us?, floor: floor? })
    });
    Some(SizeRange {
        min_bytes: min?,
        max_bytes: max?,
        planned_for_bytes: planned?,
        schedule: schedule?,
        points: points?,
    })
}

fn time(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<PlanTime> {
    let epoch_us = fields.float("epoch_us", 1e-12..=HUGE, problems);
    let alpha_threshold = fields.float("alpha_threshold", 0.0..=HUGE, problems);
    let discipline = fields.choice("discipline", &Discipline::ALL, problems);
    let pieces = match fields.optional("pieces_per_chunk") {
        None => Some(1),
        Some(_) => fields.int("pieces_per_chunk", 1..=MOST, problems),
    };
    let switch_copy = fields.bool_or("switch_copy", true, problems);
    let switch_hop = fields.choice("switch_hop", &SwitchHop::ALL, problems);
    Some(PlanTime {
        epoch_us: epoch_us?,
        alpha_threshold: alpha_threshold?,
        discipline: discipline?,
        pieces_per_chunk: pieces? as u32,
        switch_copy: switch_copy?,
        switch_hop: switch_hop?,
    })
}

fn piece(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ChunkPiece> {
    let (id, chunk) = (fields.int("id", 0..=MOST, problems), fields.int("chunk", 0..=MOST, problems));
    let offset = fields.float("offset_bytes", 0.0..=HUGE, problems);
    let size = fields.float("size_bytes", 0.0..=HUGE, problems);
    let adds_up = fields.bool_or("adds_up", false, problems);
    let path = fields.path_of("dests");
    let dests = match fields.optional("dests") {
        None => Some(None),
        Some(value) => whole_numbers(value, &path, problems).map(Some),
    };
    Some(ChunkPiece {
        id: id? as u32,
        chunk: chunk? as u32,
        offset_bytes: offset?,
        size_bytes: size?,
        adds_up: adds_up?,
        dests: dests?,
    })
}

fn claims(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ScheduleClaims> {
    let finish_epochs = fields.int("finish_epochs", 0..=MOST, problems);
    let finish_us = fields.float("finish_us", 0.0..=HUGE, problems);
    let algbw = fields.float("algbw_gbyte_per_s", 0.0..=HUGE, problems);
    let replay_us = match fields.optional("replay_us") {
        None => Some(None),
        Some(_) => fields.float("replay_us", 0.0..=HUGE, problems).map(Some),
    };
    let bound = match fields.optional("lower_bound_epochs") {
        None => Some(None),
        Some(_) => fields.int("lower_bound_epochs", 0..=MOST, problems).map(|bound| Some(bound as u32)),
    };
    let bounds = match fields.optional("bounds") {
        None => Some(Vec::new()),
        Some(_) => fields.each("bounds", problems, |fields, problems| {
            let epochs = fields.int("epochs", 0..=MOST, problems);
            let because = fields.text("because", problems).map(str::to_owned);
            let path = fields.path_of("inside");
            let inside = match fields.optional("inside") {
                None => Some(Vec::new()),
                Some(value) => whole_numbers(value, &path, problems),
            };
            Some(BoundClaim { epochs: epochs? as u32, because: because?, inside: inside? })
        }),
    };
    let optimal = fields.bool_or("optimal", false, problems);
    let floor = match fields.optional("floor") {
        None => Some(None),
        Some(_) => fields.object("floor", problems).and_then(|mut inner| {
            let floor = floor(&mut inner, problems);
            inner.finish(problems);
            floor.map(Some)
        }),
    };
    Some(ScheduleClaims {
        finish_epochs: finish_epochs? as u32,
        finish_us: finish_us?,
        algbw_gbyte_per_s: algbw?,
        replay_us: replay_us?,
        lower_bound_epochs: bound?,
        bounds: bounds?,
        optimal: optimal?,
        floor: floor?,
    })
}

fn proof(name: &'static str, fields: &mut Fields<'_>, problems: &mut Problems) -> Option<FloorProof> {
    fields.object(name, problems).and_then(|mut inner| {
        let floor_us = inner.float("floor_us", 0.0..=HUGE, problems);
        let because = inner.text("because", problems).map(str::to_owned);
        let path = inner.path_of("inside");
        let inside = match inner.optional("inside") {
            None => Some(Vec::new()),
            Some(value) => whole_numbers(value, &path, problems),
        };
        let target = match inner.optional("target") {
            None => Some(None),
            Some(_) => inner.int("target", 0..=MOST, problems).map(|node| Some(node as u32)),
        };
        inner.finish(problems);
        Some(FloorProof { floor_us: floor_us?, because: because?, inside: inside?, target: target? })
    })
}

fn floor(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<FloorClaim> {
    let without_latency = proof("without_latency", fields, problems);
    let with_latency = proof("with_latency", fields, problems);
    let gap = fields.float("gap_to_floor", 0.0..=HUGE, problems);
    // Plans of before hops out of switches counted their transmission.
    let _ = fields.bool_or("cut_through_credit", false, problems);
    Some(FloorClaim { without_latency: without_latency?, with_latency: with_latency?, gap_to_floor: gap? })
}
