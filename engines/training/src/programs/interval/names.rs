//! Names of links, pods and tasks in models, files and explanations.

use crate::scenario::instance::Instance;

/// Names of everything that a row or column can refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of pods.
    pub pods: Vec<String>,
    /// Names of links, made of the pods that they join.
    pub links: Vec<String>,
    /// Names of tasks, made of number and name.
    pub tasks: Vec<String>,
}

impl Names {
    /// The names of an instance.
    pub fn new(instance: &Instance) -> Self {
        let pods: Vec<String> = instance.pods.iter().map(|pod| pod.name.clone()).collect();
        let links = instance.links.iter();
        let tasks = instance.tasks.iter().enumerate();
        Self {
            links: links
                .map(|link| format!("{}-{}", pods[link.pod_a.index()], pods[link.pod_b.index()]))
                .collect(),
            tasks: tasks.map(|(index, task)| format!("task {index} {}", task.name)).collect(),
            pods,
        }
    }

    /// Name of a directed link: 2 * link is forward, 2 * link + 1 is backward.
    pub fn via(&self, via: usize) -> String {
        let direction = if via.is_multiple_of(2) { "forwards" } else { "backwards" };
        format!("{} {direction}", self.links[via / 2])
    }
}
