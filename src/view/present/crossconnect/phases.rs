//! Pane 7: who sends to whom in each phase of an all-to-all, by pod; a receiver that is hit twice stands out. Both rules
//! are counted, so that the one printed can be set against the corrected one.

use super::result_of;
use crate::app::drawn::{Item, PaneDrawn};
use crate::view::present::rows::{beside, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::AnyPlan;
use lightbay_engines::crossconnect::plan::PhaseRule;
use lightbay_engines::crossconnect::rollout::phases::phase;
use lightbay_widgets::{
    Meter, PaneState as Shown, Part, Piece, Sign, SignCell, SignFlag, SignRows, Signs, SignsState, Sparkline,
    Theme, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// The method whose plans the pane shows.
pub const METHOD: &str = "all-to-all-order";

/// What one phase looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseFacts {
    /// Most flows from one pod to another one.
    pub most: u32,
    /// GPUs that receive from several.
    pub hit_twice: u32,
    /// GPUs that nobody sends to.
    pub idle: u32,
}

/// An order by one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The rule.
    pub rule: PhaseRule,
    /// Destinations of all GPUs in every phase.
    pub phases: Vec<Vec<u32>>,
    /// Figures of every phase.
    pub facts: Vec<PhaseFacts>,
}

/// The order of a plan, and that of the other rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Pods.
    pub pods: usize,
    /// GPUs of a pod.
    pub gpus: usize,
    /// Of the plan.
    pub own: Order,
    /// By the other rule.
    pub other: Order,
}

impl Order {
    fn of(rule: PhaseRule, pods: usize, gpus: usize, phases: Vec<Vec<u32>>) -> Self {
        let mut received = vec![0u32; pods * gpus];
        let mut flows = vec![0u32; pods * pods];
        let facts = phases
            .iter()
            .map(|phase| {
                received.fill(0);
                flows.fill(0);
                let mut facts = PhaseFacts::default();
                for (from, &to) in phase.iter().enumerate() {
                    let to = to as usize;
                    if let Some(received) = received.get_mut(to) {
                        *received += 1;
                    }
                    let (pod, other) = (from / gpus, to / gpus);
                    if pod != other
                        && let Some(flows) = flows.get_mut(pod * pods + other)
                    {
                        *flows += 1;
                        facts.most = facts.most.max(*flows);
                    }
                }
                facts.hit_twice = received.iter().filter(|&&count| count > 1).count() as u32;
                facts.idle = received.iter().filter(|&&count| count == 0).count() as u32;
                facts
            })
            .collect();
        Self { rule, phases, facts }
    }

    /// Phases in which some GPU is hit twice.
    pub fn contended(&self) -> usize {
        self.facts.iter().filter(|facts| facts.hit_twice > 0).count()
    }
}

impl Orders {
    /// Counts the order of a plan, and makes that of the other rule beside it.
    ///
    /// # Errors
    /// A plan that is no order of phases.
    pub fn of(plan: &AnyPlan) -> Result<Self, String> {
        let order = result_of(plan).and_then(|result| result.order()).ok_or("this plan orders no phases")?;
        let gpus = (order.gpus_per_pod as usize).max(1);
        let pods = order.phases.first().map_or(0, Vec::len) / gpus;
        let rule = match order.rule {
            PhaseRule::Printed => PhaseRule::Corrected,
            PhaseRule::Corrected => PhaseRule::Printed,
        };
        let made = (1..=(pods * gpus) as u32).map(|t| phase(rule, pods as u32, gpus as u32, t)).collect();
        Ok(Self {
            pods,
            gpus,
            own: Order::of(order.rule, pods, gpus, order.phases.clone()),
            other: Order::of(rule, pods, gpus, made),
        })
    }
}

/// Data of the pane, refilled when plan, phase or rule change.
#[derive(Debug, Default)]
pub struct PhasesPane {
    key: Option<(u64, usize, bool)>,
    rows: SignRows,
    words: Vec<Vec<Piece>>,
    hit: Vec<u32>,
    curve: Vec<u32>,
    curve_of: Option<(u64, bool)>,
    items: Arc<[Item]>,
    state: SignsState,
}

impl PhasesPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        number: u64,
        orders: &Orders,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
    ) {
        let other = input.state.mode > 0;
        let order = if other { &orders.other } else { &orders.own };
        let phases = order.phases.len();
        let at = input.state.selected.map_or(0, |id| id as usize).min(phases.saturating_sub(1));
        if self.key != Some((number, at, other)) {
            self.key = Some((number, at, other));
            self.fill(orders, order, at);
        }
        if self.curve_of != Some((number, other)) {
            self.curve_of = Some((number, other));
            self.curve.clear();
            self.curve.extend(order.facts.iter().map(|facts| facts.hit_twice));
            // A slider: phases lie side by side.
            let item = |id: u32| Item { id, row: 0, place: id as f32 };
            self.items = (0..phases as u32).map(item).collect();
        }
        frame(input, &title(number, orders, order), Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 4));
        if inner.is_empty() || phases == 0 {
            return;
        }
        let theme = &input.app.look.theme;
        Self::draw_slider(theme, order, at, inner, buf);
        let curve = u16::from(inner.height >= 8 && order.contended() > 0);
        if curve > 0 {
            let (label, bars) = beside(row(inner, 1), 19, 1);
            line(theme, &[Piece::muted("GPUs hit twice")], label, buf);
            let most = self.curve.iter().copied().max().unwrap_or(1);
            (&Sparkline::new(theme, &self.curve, most, Tone::Bad)).render(bars, buf);
        }
        let verdict = verdict(orders);
        let tall = inner.height >= 10;
        let rest = from(inner, 1 + curve + u16::from(tall));
        let rest = Rect { height: rest.height.saturating_sub(if tall { 2 } else { 0 }), ..rest };
        if rest.height >= 3 {
            self.state.row_offset = input.state.offset;
            self.state.column_offset = input.state.column;
            let signs = Signs::new(theme, &self.rows, orders.pods).words(&self.words);
            (&signs).render(rest, buf, &mut self.state);
            if tall {
                let legend =
                    [Piece::muted("pod down sends to pod across, flows in this phase; "), marked(theme)];
                line(theme, &legend, row(rest, self.state.rows_shown as u16 + 1), buf);
                line(theme, &verdict, Rect { y: rest.bottom() + 1, height: 1, ..rest }, buf);
            }
        } else {
            line(theme, &verdict, row(inner, 1), buf);
            if let Some(facts) = order.facts.get(at) {
                line(theme, &figures(facts), row(inner, 2), buf);
            }
        }
        let sentence = self.sentence(order, at);
        if area.height >= 4 {
            line(theme, &sentence, below(inner), buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(rest.height.saturating_sub(1)).max(1);
        (drawn.offset, drawn.column) = (self.state.row_offset, self.state.column_offset);
        drawn.steps = phases as u32;
        drawn.steps_through = Some((input.pane, at as u32));
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details = details(orders, order, at);
        }
    }

    /// Where the phase lies among all.
    fn draw_slider(theme: &Theme, order: &Order, at: usize, area: Rect, buf: &mut Buffer) {
        let phases = order.phases.len();
        let label = format!("phase {} of {phases}", at + 1);
        let (text, bar) = beside(row(area, 0), 19, 1);
        line(theme, &[Piece::answer(label)], text, buf);
        let parts = [Part::new((at + 1) as f64, Tone::Series(0), '#')];
        (&Meter::new(theme, &parts, phases as f64).track(true)).render(bar, buf);
    }

    fn fill(&mut self, orders: &Orders, order: &Order, at: usize) {
        let (pods, gpus) = (orders.pods, orders.gpus);
        let mut flows = vec![0u32; pods * pods];
        let mut received = vec![0u32; pods * gpus];
        let phase = order.phases.get(at).map_or(&[][..], Vec::as_slice);
        for (from, &to) in phase.iter().enumerate() {
            if let Some(flows) = flows.get_mut(from / gpus * pods + to as usize / gpus) {
                *flows += 1;
            }
            if let Some(received) = received.get_mut(to as usize) {
                *received += 1;
            }
        }
        // A flow that ends at a GPU with another one makes its cell an alarm.
        let mut alarm = vec![false; pods * pods];
        for (from, &to) in phase.iter().enumerate() {
            if received.get(to as usize).is_some_and(|&count| count > 1)
                && let Some(alarm) = alarm.get_mut(from / gpus * pods + to as usize / gpus)
            {
                *alarm = true;
            }
        }
        self.hit.clear();
        self.hit.extend((0u32..).zip(&received).filter(|(_, count)| **count > 1).map(|(gpu, _)| gpu));
        let most = flows.iter().copied().max().unwrap_or(1).max(1);
        self.rows.clear();
        self.words.clear();
        for pod in 0..pods {
            for to in 0..pods {
                let count = flows[pod * pods + to];
                let sign = match count {
                    0 => continue,
                    count if alarm[pod * pods + to] => Sign::Alarm(count),
                    count => Sign::Count(count, Theme::heat_level(f64::from(count) / f64::from(most) * 0.6)),
                };
                self.rows.push(SignCell { column: to as u32, sign, flag: SignFlag::Plain });
            }
            self.rows.end_row();
            let gpus_of = &received[pod * gpus..(pod + 1) * gpus];
            let twice = gpus_of.iter().filter(|&&count| count > 1).count();
            let idle = gpus_of.iter().filter(|&&count| count == 0).count();
            self.words.push(match (twice, idle) {
                (0, 0) => vec![Piece::muted("each receives once")],
                (0, idle) => vec![Piece::text(format!("{idle} receive nothing"))],
                (twice, 0) => vec![Piece::new(format!("{twice} hit twice"), Tone::Bad).bold()],
                (twice, idle) => vec![
                    Piece::new(format!("{twice} hit twice"), Tone::Bad).bold(),
                    Piece::muted(format!(", {idle} receive nothing")),
                ],
            });
        }
    }

    fn sentence(&self, order: &Order, at: usize) -> Vec<Piece> {
        let facts = order.facts.get(at).cloned().unwrap_or_default();
        let mut pieces = vec![Piece::answer(format!("> phase {}", at + 1)), Piece::text("  ")];
        pieces.extend(figures(&facts));
        if !self.hit.is_empty() {
            let named: Vec<String> = self.hit.iter().take(8).map(u32::to_string).collect();
            let dots = if self.hit.len() > 8 { " …" } else { "" };
            pieces.push(Piece::muted(format!(": GPU {}{dots}", named.join(" "))));
        }
        pieces
    }
}

fn figures(facts: &PhaseFacts) -> Vec<Piece> {
    let mut pieces = vec![
        Piece::muted("at most "),
        Piece::answer(facts.most.to_string()),
        Piece::muted(if facts.most == 1 { " flow between two pods" } else { " flows between two pods" }),
    ];
    if facts.hit_twice > 0 {
        pieces.push(Piece::new(format!("  ! {} hit twice", facts.hit_twice), Tone::Bad).bold());
    }
    pieces
}

fn title(number: u64, orders: &Orders, order: &Order) -> Title {
    let context = vec![Piece::muted(format!("plan {number}, {} x {} GPUs", orders.pods, orders.gpus))];
    let contended = order.contended();
    let mut value = vec![Piece::text(rule_word(order.rule)), Piece::text("  ")];
    value.push(if contended == 0 {
        Piece::new("no receiver is hit twice", Tone::Good).bold()
    } else {
        let text = format!("! {contended} of {} phases hit a receiver twice", order.phases.len());
        Piece::new(text, Tone::Bad).bold()
    });
    Title { context, value }
}

const fn rule_word(rule: PhaseRule) -> &'static str {
    match rule {
        PhaseRule::Printed => "printed",
        PhaseRule::Corrected => "corrected",
    }
}

/// Both rules side by side.
fn verdict(orders: &Orders) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for order in [&orders.own, &orders.other] {
        if !pieces.is_empty() {
            pieces.push(Piece::muted("   "));
        }
        let contended = order.contended();
        pieces.push(Piece::muted(format!("{}: ", rule_word(order.rule))));
        pieces.push(if contended == 0 {
            Piece::new("no GPU is hit twice", Tone::Good)
        } else {
            let text = format!("GPUs are hit twice in {contended} of {} phases", order.phases.len());
            Piece::new(text, Tone::Bad)
        });
    }
    pieces
}

fn marked(theme: &Theme) -> Piece {
    let text = if theme.shades() { "marked: a receiver is hit twice" } else { "!: a receiver is hit twice" };
    Piece::new(text, Tone::Bad)
}

fn details(orders: &Orders, order: &Order, at: usize) -> Vec<String> {
    /// Lines of a pop-up.
    const MOST: usize = 1024;
    let gpus = orders.gpus;
    let phase = order.phases.get(at).map_or(&[][..], Vec::as_slice);
    let mut lines = vec![format!(
        "phase {} by the {} rule: GPU, its pod, and where it sends",
        at + 1,
        rule_word(order.rule)
    )];
    lines.extend(phase.iter().enumerate().take(MOST).map(|(from, &to)| {
        let to = to as usize;
        let idle = if from == to { "  (itself: idle)" } else { "" };
        format!("  {from:>4} of pod {:<4} to {to:>4} of pod {}{idle}", from / gpus, to / gpus)
    }));
    let rest = phase.len().saturating_sub(MOST);
    if rest > 0 {
        lines.push(format!("and {} more GPUs", number::count(rest as u64)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(rule: PhaseRule, pods: u32, gpus: u32) -> Order {
        let phases = (1..=pods * gpus).map(|t| phase(rule, pods, gpus, t)).collect();
        Order::of(rule, pods as usize, gpus as usize, phases)
    }

    #[test]
    fn the_printed_rule_hits_receivers_twice_unless_pods_and_gpus_are_equal_in_number() {
        // N = 2, P = 4, t = 1: GPUs 0 and 3 receive twice, 4 and 7 never.
        let printed = order(PhaseRule::Printed, 4, 2);
        assert_eq!(printed.phases[0], [0, 2, 3, 5, 6, 0, 1, 3]);
        assert_eq!(printed.facts[0], PhaseFacts { most: 1, hit_twice: 2, idle: 2 });
        assert_eq!(printed.contended(), 8);
        assert_eq!(order(PhaseRule::Printed, 3, 3).contended(), 0);
        assert_eq!(order(PhaseRule::Corrected, 4, 2).contended(), 0);
        assert_eq!(order(PhaseRule::Corrected, 2, 4).facts.iter().map(|facts| facts.most).max(), Some(2));
    }
}
