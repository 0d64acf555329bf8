//! One set of words for each standing.

use super::*;
use crate::report::Unit;

const COST: ObjectiveInfo = ObjectiveInfo::min("cost", "cost", Unit::COUNT, "");
const RATE: ObjectiveInfo = ObjectiveInfo::max("rate", "rate", Unit::COUNT, "");

fn standing(bounds: &[(f64, Option<&str>, &str)]) -> Standing {
    let mut standing = Standing::unproven(COST, 36.0, "auto");
    (standing.status, standing.has_claim) = (Some(Status::Optimal), true);
    for (value, covers, by) in bounds {
        let by = if by.is_empty() { Prover::Checker } else { Prover::Method((*by).to_owned()) };
        standing.learn(*value, *covers, covers.is_none(), by);
    }
    standing
}

/// Gaps worked out by hand: (36 - 31) / 36 = 13.9 %, (36 - 27) / 36 = 25 %.
#[test]
fn one_standing_has_one_set_of_words() {
    for (bounds, brief, status, words) in [
        (vec![(36.0, None, "")], "0.00 % verified", "optimal", "verified bound 36, gap 0.00 %"),
        (
            vec![(36.0, None, "auto"), (31.0, None, "")],
            "13.9 % verified (0.00 % claimed)",
            "optimal, claimed and not yet verified",
            "verified bound 31, gap 13.9 %; claimed by auto, not yet verified: 36, gap 0.00 %",
        ),
        (
            vec![(36.0, None, "auto")],
            "0.00 % claimed",
            "optimal, claimed and not yet verified",
            "no bound is verified; bound claimed by auto: 36, gap 0.00 %",
        ),
        (
            vec![(36.0, Some("fair plans"), ""), (27.0, None, "")],
            "25.0 % verified (0.00 % verified for some plans)",
            "optimal for fair plans",
            "verified bound 27, gap 25.0 %; verified 36 for fair plans, gap 0.00 %",
        ),
        (
            vec![(36.0, Some("fair plans"), "auto")],
            "0.00 % claimed for some plans",
            "optimal for fair plans, claimed and not yet verified",
            "no bound is verified; bound claimed by auto: 36 for fair plans, gap 0.00 %",
        ),
    ] {
        let standing = standing(&bounds);
        assert_eq!((standing.brief(), standing.status()), (brief.to_owned(), status.to_owned()));
        assert_eq!(standing.words(false), words);
        assert!(standing.sentence().contains(&standing.words(true)));
        let is_proven = standing.sentence().starts_with("Proven optimal");
        assert_eq!(is_proven, status == "optimal", "{brief}");
    }
}

#[test]
fn nothing_is_said_twice_and_more_beats_less() {
    // A verified bound on all plans makes every weaker one needless.
    let known = standing(&[(31.0, None, "auto"), (30.0, Some("fair plans"), "auto"), (31.0, None, "")]);
    assert_eq!(known.bounds().len(), 1);
    let claimed = standing(&[(31.0, None, ""), (33.0, None, "a"), (32.0, None, "b"), (34.0, None, "c")]);
    assert_eq!(claimed.bounds().iter().map(|bound| bound.value).collect::<Vec<_>>(), [31.0, 34.0]);
    assert_eq!(claimed.on_all().unwrap().by, Prover::Method("c".to_owned()));
    let mut rate = Standing::unproven(RATE, 10.0, "walk");
    rate.learn(20.0, None, true, Prover::Checker);
    rate.learn(16.0, None, true, Prover::Checker);
    assert_eq!(rate.brief(), "60.0 % verified", "bounds from above are better the lower they are");
    assert_eq!(rate.words(true), "verified bound on rate 16, gap 60.0 %; walk claims no bound");
}

#[test]
fn a_claim_that_the_plan_beats_is_false_and_no_gap() {
    let mut known = standing(&[(31.0, None, "")]);
    known.learn(40.0, None, true, Prover::Method("pooled".to_owned()));
    assert_eq!(known.brief(), "13.9 % verified");
    assert!(known.words(false).ends_with("the bound 40 claimed by pooled is false: this plan beats it"));
    // Rounding is no contradiction.
    known.learn(36.0 * (1.0 + 1e-12), None, true, Prover::Method("auto".to_owned()));
    assert_eq!(known.closer().unwrap().word(), "claimed");
}

#[test]
fn what_works_claims_nothing_of_its_end() {
    let working = standing(&[(36.0, None, "auto"), (31.0, None, "")]).unfinished();
    assert_eq!(working.brief(), "13.9 % verified");
    assert_eq!(working.status(), "found by a run that is still running");
    assert_eq!(Standing::unproven(COST, 36.0, "auto").brief(), NO_BOUND);
}

/// What is kept beside a plan is what the checker reached; a claim that it did not confirm stays one.
#[test]
fn findings_are_what_the_checker_reached() {
    let found = |bounds: &[(f64, Option<&str>, &str)]| standing(bounds).findings("5ca1ab1e");
    assert_eq!(found(&[(36.0, None, "auto")]), None);
    let partly = found(&[(36.0, None, "auto"), (31.0, None, "")]).unwrap();
    let bound = |value, covers: Option<&str>| FoundBound { value, covers: covers.map(str::to_owned) };
    assert_eq!((partly.value, partly.is_confirmed, partly.bounds.len()), (36.0, false, 1));
    assert_eq!(partly.bounds[0], bound(31.0, None));
    let wholly = found(&[(36.0, Some("fair plans"), ""), (27.0, None, "")]).unwrap();
    assert!(wholly.is_confirmed);
    assert_eq!(wholly.bounds, [bound(27.0, None), bound(36.0, Some("fair plans"))]);
    let text = serde_json::to_string(&wholly).unwrap();
    assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), wholly);
    let forgotten = standing(&[(36.0, None, "auto"), (31.0, None, "")]).forgotten();
    assert_eq!(forgotten.brief(), "0.00 % claimed");
    assert_eq!(forgotten.findings("5ca1ab1e"), None);
}
