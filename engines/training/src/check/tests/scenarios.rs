//! Scenarios that contradict themselves are refused before the plan is looked at.

use super::support::{Whole, link, measured, toy_b_plan};
use crate::check::code;
use crate::plan::RateControl;
use crate::scenario::instance::{Edge, GpuSet, Instance, InstanceProvenance, LinkKind};
use crate::scenario::job::{Job, ModelChoice, Order, PortsPerPod, Step};
use lightbay_core::units::{LinkId, PodId, TaskId};

fn refused(change: impl Fn(&mut Instance)) -> String {
    let mut plan = toy_b_plan(RateControl::Fair);
    change(plan.instance());
    plan.assert_codes(&[code::SCENARIO]);
    plan.check().violations[0].message.clone()
}

#[test]
fn contradictions_of_an_instance() {
    let edge = |pred, succ, delay_s| Edge { pred: TaskId(pred), succ: TaskId(succ), delay_s };
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e13] {
        refused(|net| net.nic_bandwidth_gbps = value);
    }
    refused(|net| net.pods[1].id = PodId(0));
    refused(|net| net.links[1].id = LinkId(0));
    refused(|net| net.links[1].pod_b = PodId(9));
    refused(|net| net.links[1].pod_b = PodId(1));
    refused(|net| net.links.push(link(2, 1, 0, LinkKind::Pp, 1)));
    refused(|net| net.tasks[2].id = TaskId(0));
    refused(|net| net.tasks[2].dst_pod = PodId(1));
    refused(|net| net.tasks[2].src_pod = PodId(0));
    refused(|net| net.tasks[2].dst_pod = PodId(17));
    refused(|net| net.tasks[2].flows = 0);
    refused(|net| net.tasks[2].flows = 3);
    refused(|net| net.tasks[2].src_gpus = GpuSet::List(vec![]));
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(|net| net.tasks[0].volume_bytes = value);
    }
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        refused(|net| net.tasks[0].release_s = value);
        refused(|net| net.tasks[0].tail_s = value);
        refused(|net| net.edges[0].delay_s = value);
        refused(|net| {
            net.provenance =
                Some(InstanceProvenance { compute_s: Some(value), ..InstanceProvenance::default() });
        });
    }
    refused(|net| net.edges.push(edge(0, 3, 0.0)));
    refused(|net| net.edges.push(edge(7, 1, 0.0)));
    refused(|net| net.edges.push(edge(1, 1, 0.0)));
    let circle = refused(|net| net.edges.extend([edge(1, 2, 0.0), edge(2, 0, 0.0)]));
    assert_eq!(circle, "tasks 2, 0 wait for each other in a cycle");
    let short = refused(|net| net.pods[1].ports = 1);
    assert_eq!(short, "pod 1 'p1' has 1 ports, but one circuit on each of its links needs 2");
}

#[test]
fn an_absurd_time_is_a_violation_and_no_panic() {
    let mut plan = toy_b_plan(RateControl::Fair);
    plan.instance().edges[0].delay_s = 1e308;
    plan.instance().tasks[1].release_s = 1.7e308;
    plan.instance().tasks[1].tail_s = 1.7e308;
    assert!(!plan.codes().is_empty());
}

fn job_refused(change: impl Fn(&mut Job)) {
    let mut job = measured(2, 2, 2, 1e9, 1e9);
    change(&mut job);
    let plan = toy_b_plan(RateControl::Fair);
    let plan = Whole { scenario: super::support::Scenario::Job(job), ..plan };
    plan.assert_codes(&[code::SCENARIO]);
}

#[test]
fn contradictions_of_a_job() {
    job_refused(|job| job.run.pp = 0);
    job_refused(|job| job.run.micro_batches = 0);
    job_refused(|job| job.run.micro_batches = u32::MAX);
    job_refused(|job| job.run.gpus = 3);
    job_refused(|job| job.run.gpus = 1);
    job_refused(|job| (job.run.ep, job.run.etp) = (u32::MAX, u32::MAX));
    job_refused(|job| job.run.gpus_per_pod_per_replica = 0);
    job_refused(|job| job.ports_per_pod = Some(PortsPerPod::ByPosition(vec![3])));
    job_refused(|job| job.ports_per_pod = Some(PortsPerPod::Same(1)));
    job_refused(|job| job.measured = None);
    job_refused(|job| {
        job.measured = None;
        job.model = Some(ModelChoice::Preset("unheard_of".to_owned()));
    });
    let measured = |job: &mut Job, change: &dyn Fn(&mut crate::scenario::job::Measured)| {
        if let Some(measured) = &mut job.measured {
            change(measured);
        }
    };
    job_refused(|job| measured(job, &|m| m.stages.truncate(1)));
    job_refused(|job| measured(job, &|m| m.stages[0].fwd_s = f64::NAN));
    job_refused(|job| measured(job, &|m| m.pp_bytes_per_rank = f64::INFINITY));
    job_refused(|job| measured(job, &|m| m.order = Order::Lists(vec![])));
    let step = |text: &str| text.parse::<Step>().unwrap();
    let lists = |texts: [&[&str]; 2]| {
        Order::Lists(texts.iter().map(|list| list.iter().map(|text| step(text)).collect()).collect())
    };
    for texts in [
        [&["F1", "F2", "B1", "B1"] as &[&str], &["F1", "B1", "F2", "B2"]],
        [&["F1", "F2", "B1", "B3"], &["F1", "B1", "F2", "B2"]],
        // Stage 1 wants gradients of micro-batch 1 first, stage 2 works on 2 first but has no activations of it.
        [&["F1", "B1", "F2", "B2"], &["F2", "B2", "F1", "B1"]],
        [&["B1", "F1", "F2", "B2"], &["F1", "B1", "F2", "B2"]],
    ] {
        job_refused(|job| measured(job, &|m| m.order = lists(texts)));
    }
}
