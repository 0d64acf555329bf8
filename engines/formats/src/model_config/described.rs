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
}

impl DescribedJob {
    /// Makes a description of a model without a run.
    pub const fn of(sizes: ModelSizes) -> Self {
        Self { sizes, run: Vec::new() }
    }

    /// Adds the integer value of a parameter, if there is one.
    pub(super) fn set(&mut self, name: &'static str, value: Option<u64>) {
        let value = value.and_then(|value| i64::try_from(value).ok());
        self.run.extend(value.map(|value| (name, ParamValue::Int(value))));
    }
}
