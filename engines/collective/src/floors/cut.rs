//! Cuts in words.

use crate::scenario::network::LinkNetwork;

/// Names of nodes that are listed one by one.
const NAMES: usize = 4;

/// Returns the name of a cut by its smaller side in GPUs, such as `into {group 0} (8 GPUs)`: the data inside has to
/// leave, or has to get into what is outside. Of sides of equal size the outside is named.
pub fn cut_words(network: &LinkNetwork, inside: &[bool]) -> String {
    let side = |within: bool| -> Vec<u32> {
        network.gpus().iter().copied().filter(|gpu| inside[*gpu as usize] == within).collect()
    };
    let (data, rest) = (side(true), side(false));
    let (word, side) = if rest.len() <= data.len() { ("into", rest) } else { ("out of", data) };
    // Whole groups by number, else nodes by name.
    let groups = whole_groups(network, &side);
    let names: Vec<String> = match groups {
        Some(groups) => groups.iter().map(|group| format!("group {group}")).collect(),
        None => side.iter().map(|gpu| network.nodes()[*gpu as usize].name.clone()).collect(),
    };
    let more = names.len().saturating_sub(NAMES);
    let shown = names[..names.len() - more].join(", ");
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let gpus = if side.len() == 1 { "GPU" } else { "GPUs" };
    format!("{word} {{{shown}{rest}}} ({} {gpus})", side.len())
}

/// The groups that make up a set of GPUs, if it consists of whole groups of more than one GPU.
fn whole_groups(network: &LinkNetwork, side: &[u32]) -> Option<Vec<u32>> {
    let mut groups: Vec<u32> =
        side.iter().map(|gpu| network.nodes()[*gpu as usize].group).collect::<Option<_>>()?;
    groups.sort_unstable();
    groups.dedup();
    let of_groups =
        |gpu: &&u32| network.nodes()[**gpu as usize].group.is_some_and(|group| groups.contains(&group));
    let members = network.gpus().iter().filter(of_groups).count();
    (members == side.len() && side.len() > groups.len()).then_some(groups)
}
