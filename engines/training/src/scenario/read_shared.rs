//! Reading several jobs on one set of pods from JSON, all problems at once.

use super::read_job;
use super::shared::{MAX_PODS, MAX_WEIGHT, PlacedJob, SharedPods};
use lightbay_core::problem::Problems;
use lightbay_core::read::Fields;

/// Reads `jobs` and `ports_per_pod` beside it.
pub(super) fn shared(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SharedPods> {
    let jobs = fields.each("jobs", problems, placed);
    let ports_path = fields.path_of("ports_per_pod");
    let ports = fields.optional("ports_per_pod").map(|value| read_job::ports(value, &ports_path, problems));
    Some(SharedPods { jobs: jobs?, ports_per_pod: read_job::flip(ports)? })
}

fn placed(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<PlacedJob> {
    let name = fields.text("name", problems).map(str::to_owned);
    let whole = |value: i64| u32::try_from(value).ok();
    let weight = fields.int_or("weight", 1..=i64::from(MAX_WEIGHT), 1, problems).and_then(whole);
    let first_pod = fields.int_or("first_pod", 0..=i64::from(MAX_PODS - 1), 0, problems).and_then(whole);
    let path = fields.path_of("job");
    let job = fields.required("job", problems).and_then(|value| read_job::job(value, &path, problems));
    Some(PlacedJob { name: name?, weight: weight?, first_pod: first_pod?, job: job? })
}
