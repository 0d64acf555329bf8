//! AICB and SimAI workloads: what one training iteration of a cluster computes and sends.
//!
//! Two forms come from the same generator, the SimAI text ([`simai_text`]: one rank of one stage, layer by layer) and
//! the per-call CSV ([`calls`]: every call of one rank of each stage, in program order). Kernel times ([`aiob`]) and
//! bus bandwidths ([`busbw`]) complete them; [`workload::merge`] combines the inputs into one [`AicbWorkload`].

pub mod aiob;
pub mod busbw;
pub mod calls;
pub mod collective;
mod from_calls;
mod from_text;
mod header;
mod in_pod;
pub mod order;
pub mod period;
pub mod simai_text;
pub mod summary;
pub mod workload;

use std::io::BufRead;

use lightbay_core::problem::{Problem, Problems};

pub use aiob::KernelTimes;
pub use busbw::BusBandwidth;
pub use calls::Calls;
pub use collective::{AicbCollective, CollectiveKind, Group};
pub use from_text::MICRO_BATCHES;
pub use header::SimaiHeader;
pub use order::{Pass, Slot};
pub use simai_text::SimaiText;
pub use summary::ImportSummary;
pub use workload::{
    AicbWorkload, ComputeSource, MergeOptions, Merged, ParameterGather, StageWorkload, merge,
};

use crate::detect::{self, Format};
use crate::gz::Limits;

/// A parsed file of this family.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// SimAI text workload.
    Text(SimaiText),
    /// Per-call CSV workload.
    Calls(Calls),
    /// Kernel times.
    Kernels(KernelTimes),
    /// Bus-bandwidth table.
    BusBandwidth(BusBandwidth),
}

impl Content {
    /// Returns the format of the file.
    pub const fn format(&self) -> Format {
        match self {
            Self::Text(_) => Format::SimaiText,
            Self::Calls(_) => Format::AicbCsv,
            Self::Kernels(_) => Format::AiobTimes,
            Self::BusBandwidth(_) => Format::BusBandwidth,
        }
    }
}

/// The content of an input file, with the name of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct AicbInput {
    /// The name as the user wrote it.
    pub name: String,
    /// `true` if the file was gzip-compressed.
    pub compressed: bool,
    /// Content of the file.
    pub content: Content,
}

/// Reads any file of this family, compressed or not; `name` precedes every problem.
///
/// # Errors
/// Every problem of the file, or its actual format if it does not belong to this family.
pub fn read(reader: impl BufRead, name: &str, limits: &Limits) -> Result<AicbInput, Problems> {
    let named = |problems: Problems| problems.named(name);
    let opened = detect::open(reader, limits).map_err(|problem| named(problem.into()))?;
    let content = match opened.format {
        Format::SimaiText => simai_text::read(opened.reader, limits).map(Content::Text),
        Format::AicbCsv => calls::read(opened.reader, limits).map(Content::Calls),
        Format::AiobTimes => aiob::read(opened.reader, limits).map(Content::Kernels),
        Format::BusBandwidth => busbw::read(opened.reader, limits).map(Content::BusBandwidth),
        other => {
            let mut remedy = "give a SimAI text workload, an AICB per-call CSV, AICB kernel times \
                              or a bus-bandwidth table"
                .to_owned();
            match other.importer() {
                Some(importer) => {
                    remedy = format!("read the file with `lightbay import {importer}`; {remedy}");
                }
                None if !other.advice().is_empty() => remedy = format!("{}; {remedy}", other.advice()),
                None => {}
            }
            Err(Problem::new("", format!("this is {}", other.describe()), remedy).into())
        }
    }
    .map_err(named)?;
    Ok(AicbInput { name: name.to_owned(), compressed: opened.compressed, content })
}
