//! Names for scenarios that have no name of their own.

use crate::scenario::TrainingScenario;
use crate::scenario::job::{Job, ModelChoice};

/// Name after the model and the GPUs: `megatron_177b-192-gpus`.
pub(super) fn usual(scenario: &TrainingScenario) -> String {
    match scenario {
        TrainingScenario::Job(job) => format!("{}-{}-gpus", model(job), job.run.gpus),
        TrainingScenario::Instance(instance) => {
            format!("instance-{}-pods-{}-links", instance.pods.len(), instance.links.len())
        }
        TrainingScenario::Shared(shared) => {
            let gpus: u64 = shared.jobs.iter().map(|placed| u64::from(placed.job.run.gpus)).sum();
            format!("{}-jobs-{gpus}-gpus", shared.jobs.len())
        }
    }
}

fn model(job: &Job) -> String {
    match &job.model {
        _ if job.measured.is_some() => "measured".to_owned(),
        Some(ModelChoice::Preset(name)) => name.clone(),
        Some(ModelChoice::Inline(model)) => format!("{}-layers-h{}", model.layers, model.hidden),
        None => "job".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;

    #[test]
    fn jobs_are_named_after_model_and_gpus() {
        let of = |name: &str| usual(&presets::scenario(name).expect("a preset"));
        assert_eq!(of("megatron_177b"), "megatron_177b-384-gpus");
        assert_eq!(of("deepseek_671b"), "deepseek_671b-256-gpus");
    }
}
