//! Circuits that a user gives as a list.

use crate::model::network::Network;
use crate::report::pod_name;
use crate::scenario::instance::Instance;
use lightbay_core::param::Params;
use lightbay_core::problem::Problems;

/// Returns the circuits in the parameter `name`, or all problems with them; `None` if the parameter is not given.
pub(super) fn circuits(
    network: &Network,
    instance: &Instance,
    params: &Params,
    name: &str,
) -> Result<Option<Vec<u32>>, Problems> {
    let given: Option<Vec<u32>> = params
        .ints(name)
        .map(|values| values.into_iter().map(|value| u32::try_from(value).unwrap_or(0)).collect());
    given.map(|x| sound(network, instance, x, name)).transpose()
}

/// Returns the circuits `x` if they fit the scenario, otherwise all problems with them.
pub(super) fn sound(
    network: &Network,
    instance: &Instance,
    x: Vec<u32>,
    name: &str,
) -> Result<Vec<u32>, Problems> {
    let links = network.links();
    let mut problems = Problems::new();
    if x.len() != links {
        problems.add(
            name,
            format!("has {} entries, but the scenario has {links} links", x.len()),
            "give one number for each link, in link order",
        );
        return Err(problems);
    }
    for (link, _) in x.iter().enumerate().filter(|(_, circuits)| **circuits == 0) {
        problems.add(format!("{name}[{link}]"), "is 0", "give every link at least 1 circuit");
    }
    for (pod, free) in network.budget.free(&x).into_iter().enumerate().filter(|(_, free)| *free < 0) {
        let ports = network.budget.ports(pod).unwrap_or(0);
        let pod = pod_name(instance, pod);
        problems.add(
            name,
            format!("needs {} ports in {pod}, which has {ports}", i64::from(ports) - free),
            format!("remove circuits from the links of {pod}"),
        );
    }
    problems.into_result(x)
}
