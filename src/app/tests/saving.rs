//! Tests of the screen while nothing can be saved: the sign, the question before quitting, and the move to another
//! folder.

use super::support::Bench;
use crate::app::action::{Fact, Saving};
use crate::app::effect::Effect;
use crate::app::layer::Layer;

fn saving(failing: Option<&str>, made_again: u64) -> Fact {
    Fact::Saving(Saving {
        name: "tiny4".to_owned(),
        failing: failing.map(str::to_owned),
        made_again,
        ..Saving::default()
    })
}

const FULL: &str = "the session cannot be saved: no room";

#[test]
fn a_failure_is_said_once_and_shown_until_it_is_over() {
    let mut bench = Bench::open();
    let lines = bench.app.log.len();
    for _ in 0..3 {
        bench.fact(saving(Some(FULL), 0));
    }
    assert_eq!(bench.app.log.len(), lines + 1);
    assert!(bench.app.log.last().unwrap().text.contains(":save_to FOLDER"));
    assert_eq!(bench.app.session.failing.as_deref(), Some(FULL));
    bench.fact(saving(None, 0));
    assert_eq!(bench.app.session.failing, None);
    assert_eq!(bench.app.log.last().unwrap().text, "the session is saved again");
    let other = Saving { key: 7, failing: Some(FULL.to_owned()), ..Saving::default() };
    bench.fact(Fact::Saving(other));
    assert_eq!(bench.app.session.failing, None, "another session is meant");
}

#[test]
fn leaving_tells_the_truth_and_offers_another_folder() {
    // Whether anything was found here, whether it works still, whether saving fails: whether q asks, with what answers.
    for (found, works, fails, answers) in [
        (false, false, false, 0),
        (true, false, false, 0),
        (false, false, true, 0),
        (true, true, false, 2),
        (true, false, true, 3),
        (true, true, true, 3),
    ] {
        let mut bench = Bench::open();
        if found {
            bench.keys("r");
            let run = bench.accept(false);
            if !works {
                bench.replay(run, "delta-joint", 1);
            }
        }
        if fails {
            bench.fact(saving(Some(FULL), 0));
        }
        bench.keys("q");
        let asked = match bench.app.layers.last() {
            Some(Layer::Confirm(question)) => {
                assert_eq!(question.meaning.contains("is saved"), !fails, "{}", question.meaning);
                assert_eq!(question.meaning.contains(FULL), fails);
                question.answers.len()
            }
            _ => 0,
        };
        assert_eq!((asked, bench.app.leaving), (answers, answers == 0), "{found} {works} {fails}");
        if answers == 3 {
            bench.keys("Right Enter");
            assert!(
                matches!(bench.app.layers.last(), Some(Layer::Palette(list)) if list.field.text() == "save_to ")
            );
            bench.text("/mnt/usb").keys("Enter");
            assert!(bench.effects.contains(&Effect::SaveTo("/mnt/usb".into())), "{:?}", bench.effects);
            bench.keys("q y");
            assert!(bench.app.leaving);
        }
    }
}

#[test]
fn a_folder_that_was_removed_gets_everything_that_is_still_known() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-joint", 2);
    let known: Vec<u64> =
        bench.app.plans.iter().filter(|entry| entry.plan.is_some()).map(|entry| entry.number).collect();
    assert!(!known.is_empty());
    bench.fact(saving(None, 1));
    let saved: Vec<u64> = bench
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::SavePlan { number, .. } => Some(*number),
            _ => None,
        })
        .collect();
    assert_eq!(saved, known);
    assert!(bench.effects.iter().any(|effect| matches!(effect, Effect::Remember(_))));
    bench.fact(saving(None, 1));
    assert_eq!(bench.effects, [], "once is enough");
}
