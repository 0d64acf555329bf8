//! Messages between the program and its solver process. A frame consists of a magic number, a length and a postcard
//! record.

use crate::conflict::Conflict;
use crate::error::Error;
use crate::event::SolverEvent;
use crate::model::Model;
use crate::options::Options;
use crate::solution::{Solution, Start};
use postcard::ser_flavors::Flavor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Mark at the beginning of every frame. Its last byte is the version of the messages, so that another build is
/// recognised at its first message.
const MARK: [u8; 4] = *b"LBH\x01";

/// Size of the head of a frame: the mark and the length of the record.
const HEAD_BYTES: usize = 8;

/// Maximum size of a record: a model of about thirty million entries.
pub(super) const LIMIT_BYTES: usize = 1 << 30;

/// Request to a solver process. A process serves only one job.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum HelperRequest<'m> {
    /// The job to solve.
    Solve(Box<SolveJob<'m>>),
    /// Stop as soon as the solver can.
    Interrupt,
    /// A better point from another source, one value per column.
    Better(Vec<f64>),
}

/// A job for a solver process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SolveJob<'m> {
    pub(super) model: Cow<'m, Model>,
    pub(super) options: Cow<'m, Options>,
    pub(super) start: Cow<'m, Start>,
    pub(super) question: SolveQuestion,
}

/// Task of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum SolveQuestion {
    /// Find the best point of the model.
    Solution,
    /// Find the reason that the model is infeasible, within about this number of seconds.
    Conflict(f64),
}

/// Message of a solver process. The last message of a job is `Finished`, `Explained` or `Failed`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer<'e> {
    /// An event of the solver.
    Event(Cow<'e, SolverEvent>),
    /// Result of the solve.
    Finished(Box<Solution>),
    /// The reason that the model is infeasible; `None` if the model is feasible or the reason was not found.
    Explained(Option<Conflict>),
    /// The error that ended the job.
    Failed(Error),
}

/// Reason that a frame could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The pipe is broken.
    #[error("the pipe is broken: {0}")]
    Pipe(#[from] io::Error),
    /// The other process ended in the middle of a frame.
    #[error("the message ended after {got} of {wanted} bytes")]
    Truncated {
        /// Number of bytes received.
        got: usize,
        /// Number of bytes announced.
        wanted: usize,
    },
    /// The record exceeds the maximum size of a frame.
    #[error("the message has {0} bytes, more than the maximum of {LIMIT_BYTES}")]
    TooLarge(usize),
    /// The received bytes do not begin with the mark of this protocol.
    #[error("the other process is not lightbay, or is another version of lightbay")]
    Stranger,
    /// The record cannot be read.
    #[error("the message cannot be read: {0}")]
    Garbled(#[from] postcard::Error),
}

/// Writes one message and flushes it.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    write_unless(to, message, &AtomicBool::new(false))
}

/// Writes one message like [`write()`], but aborts once `gone` is set. `gone` is set when the receiver was killed or
/// its result is not needed any more; without it, the writing of a large model would continue for seconds.
pub(super) fn write_unless(
    to: &mut impl Write,
    message: &impl Serialize,
    gone: &AtomicBool,
) -> Result<(), FrameError> {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend_from_slice(&MARK);
    bytes.extend_from_slice(&[0; HEAD_BYTES - MARK.len()]);
    let mut frame = postcard::serialize_with_flavor(message, Growing { bytes, gone })?;
    let length = frame.len() - HEAD_BYTES;
    if length > LIMIT_BYTES {
        return Err(FrameError::TooLarge(length));
    }
    frame[MARK.len()..HEAD_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
    to.write_all(&frame)?;
    to.flush()?;
    Ok(())
}

/// A frame under construction; serialisation stops once the result of the job is not needed any more.
struct Growing<'g> {
    bytes: Vec<u8>,
    gone: &'g AtomicBool,
}

impl Flavor for Growing<'_> {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if self.gone.load(Ordering::Relaxed) {
            return Err(postcard::Error::SerializeBufferFull);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.bytes)
    }
}

/// Reads one message; `None` if the other process ended between two messages.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>, FrameError> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    from.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    // A foreign sender is recognised even if it wrote less than a header.
    if !MARK.starts_with(&head[..head.len().min(MARK.len())]) {
        return Err(FrameError::Stranger);
    }
    let Some(Ok(length)) = head.get(MARK.len()..HEAD_BYTES).map(<[u8; 4]>::try_from) else {
        return Err(FrameError::Truncated { got: head.len(), wanted: HEAD_BYTES });
    };
    let wanted = u32::from_le_bytes(length) as usize;
    if wanted > LIMIT_BYTES {
        return Err(FrameError::TooLarge(wanted));
    }
    // Memory grows with the received bytes, not with the announced length.
    let mut record = Vec::new();
    from.by_ref().take(wanted as u64).read_to_end(&mut record)?;
    if record.len() < wanted {
        return Err(FrameError::Truncated { got: record.len(), wanted });
    }
    Ok(Some(postcard::from_bytes(&record)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{MipProgress, Stage, StartFate};
    use crate::model::Size;
    use proptest::prelude::*;

    fn model() -> Model {
        let mut model = Model::new("circuits");
        let x = model.integer("circuits pod0-pod1", 0.0, 4.0, -1.0);
        let y = model.column("start of task 17", 0.0, f64::INFINITY, 2.5);
        model.at_most("ports of pod 0", 5.0, [(x, 1.0), (y, 1.0)]);
        model
    }

    fn frame(message: &impl Serialize) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, message).unwrap();
        bytes
    }

    #[test]
    fn a_model_survives_the_way() {
        let (model, options) = (model(), Options::new().set("mip_rel_gap", 1e-7).set("presolve", "off"));
        let start = Start::Partial(vec![(1, 0.5)]);
        let bytes = frame(&HelperRequest::Solve(Box::new(SolveJob {
            model: Cow::Borrowed(&model),
            options: Cow::Borrowed(&options),
            start: Cow::Borrowed(&start),
            question: SolveQuestion::Conflict(2.5),
        })));
        let Some(HelperRequest::Solve(job)) = read::<HelperRequest<'static>>(&mut bytes.as_slice()).unwrap()
        else {
            panic!("another message")
        };
        assert_eq!((&*job.model, &*job.options, &*job.start), (&model, &options, &start));
        assert_eq!(job.question, SolveQuestion::Conflict(2.5));
    }

    #[test]
    fn events_survive_the_way_infinities_included() {
        let events = [
            SolverEvent::Log("Presolving model".to_owned()),
            SolverEvent::Stage(Stage::RootLp),
            SolverEvent::Presolved(Size { columns: 1, rows: 2, nonzeros: 3, integers: 1 }),
            SolverEvent::Mip(MipProgress { bound: Some(f64::NEG_INFINITY), nodes: 7, ..Default::default() }),
            SolverEvent::Incumbent { objective: 3.5, values: vec![1.0, -0.0, 1e300], source: 'H' },
            SolverEvent::Start(StartFate::Rejected("x is 2.5, not a whole number".to_owned())),
        ];
        let bytes: Vec<u8> =
            events.iter().flat_map(|event| frame(&Answer::Event(Cow::Borrowed(event)))).collect();
        let mut pipe = bytes.as_slice();
        for event in &events {
            let Some(Answer::Event(heard)) = read::<Answer<'static>>(&mut pipe).unwrap() else {
                panic!("another message")
            };
            assert_eq!(&*heard, event);
        }
        assert!(read::<Answer<'static>>(&mut pipe).unwrap().is_none());
    }

    #[test]
    fn nothing_is_written_when_nobody_waits_for_it() {
        let mut pipe = Vec::new();
        let error = write_unless(&mut pipe, &HelperRequest::Interrupt, &AtomicBool::new(true)).unwrap_err();
        assert!(matches!(error, FrameError::Garbled(_)) && pipe.is_empty(), "{error}");
    }

    #[test]
    fn a_frame_cut_anywhere_is_no_message() {
        let bytes = frame(&Answer::Failed(Error::Model("no memory".to_owned())));
        for cut in 1..bytes.len() {
            let error = read::<Answer<'static>>(&mut &bytes[..cut]).unwrap_err();
            assert!(matches!(error, FrameError::Truncated { .. }), "{cut}: {error}");
        }
    }

    #[test]
    fn other_versions_and_lengths_without_sense_are_refused() {
        let mut newer = frame(&HelperRequest::Interrupt);
        newer[3] += 1;
        assert!(matches!(read::<HelperRequest<'static>>(&mut newer.as_slice()), Err(FrameError::Stranger)));
        assert!(matches!(read::<HelperRequest<'static>>(&mut &b"h\n"[..]), Err(FrameError::Stranger)));
        let mut huge = frame(&HelperRequest::Interrupt);
        huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read::<HelperRequest<'static>>(&mut huge.as_slice()), Err(FrameError::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn noise_is_refused_or_read_but_never_more(noise in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = MARK.to_vec();
            bytes.extend((noise.len() as u32).to_le_bytes());
            bytes.extend(&noise);
            let _ = read::<HelperRequest<'static>>(&mut bytes.as_slice());
            let _ = read::<Answer<'static>>(&mut bytes.as_slice());
            let _ = read::<Answer<'static>>(&mut noise.as_slice());
        }
    }
}
