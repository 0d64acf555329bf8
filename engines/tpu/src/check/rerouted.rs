//! Checks figures of routes that a plan does not list, and the hops on virtual channels before balancing.
//!
//! The figures can be computed from the routes, and the routes from pod, settings and seed. The checker uses the router
//! of the methods to route the pod again. This takes as long as the original routing, so it is done only in the exact
//! depth. In the usual depth, the figures are reported as claimed, and only impossible figures are refused.

use super::{Findings, Router, code};
use crate::plan::Routing;
use lightbay_core::kind::Depth;

/// Confirms the figures that do not follow from the listed routes, or reports them as claimed.
pub(super) fn check(
    routing: &Routing,
    router: Router<'_>,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) {
    let unlisted = routing.routes.is_empty();
    if !unlisted && routing.unbalanced.is_none() {
        return;
    }
    let why = if depth.is_exact() && found.is_empty() {
        match router(depth) {
            Err(why) => format!("the pod was not routed again: {why}"),
            Ok(own) => {
                let same_paths =
                    if unlisted { own.claims == routing.claims } else { own.routes == routing.routes };
                let same_spread = own.unbalanced == routing.unbalanced;
                if same_paths && same_spread {
                    remarks
                        .push("the pod was routed again: all figures of the routes are confirmed".to_owned());
                    return;
                }
                if same_paths && !unlisted {
                    let words = "routing: 'unbalanced' differs from the hops on the virtual channels before balancing";
                    found.add(code::LOAD, words);
                    return;
                }
                format!(
                    "routing the pod again gave a different result, with max channel load {}",
                    own.claims.max_channel_load
                )
            }
        }
    } else {
        "--exact routes the pod again".to_owned()
    };
    if unlisted {
        remarks.push(format!(
            "loads and hops of the routes are claimed, because the plan does not contain the routes \
             (with_routes=true includes them); {why}"
        ));
    }
    if routing.unbalanced.is_some() {
        remarks.push(format!(
            "the hops on each virtual channel before balancing are claimed; only their sums are verified; \
             {why}"
        ));
    }
}
