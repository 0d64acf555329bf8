//! Content of the description of a job: the sizes of the model, and values of the parameters of the run.

use super::ModelSizes;
use lightbay_core::param::ParamValue;

/// A model, and values of the training run.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedJob {
    /// The model.
    pub sizes: ModelSizes,
    /// Names of parameters of the run, such as `tp`, each with its value.
    pub run: Vec<(&'static str, ParamValue)>,
    /// If true, every tensor-parallel rank sends the whole activations of a micro-batch to the next stage; otherwise the
    /// ranks divide them.
    pub whole_sends: bool,
    /// If true, the tensor-parallel size inside an expert is that of the other layers, because the file sets none.
    pub etp_is_tp: bool,
}

impl DescribedJob {
    /// Makes a description of a model without a run.
    pub const fn of(sizes: ModelSizes) -> Self {
        Self { sizes, run: Vec::new(), whole_sends: false, etp_is_tp: false }
    }

    /// Adds the integer value of a parameter, if there is one.
    pub(super) fn set(&mut self, name: &'static str, value: Option<u64>) {
        let value = value.and_then(|value| i64::try_from(value).ok());
        self.run.extend(value.map(|value| (name, ParamValue::Int(value))));
    }
}
