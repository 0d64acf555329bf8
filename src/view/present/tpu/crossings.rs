//! Pane 4: the setting of every switch, cube by cube or face by face, and the number of circuits between cubes. The
//! voltages of a symmetric pod can be edited.

use super::faces::{self, APART, TALL};
use super::live::Live;
use super::mcf;
use super::{ExplainedPod, Tori};
use crate::app::action::Command;
use crate::app::drawn::{CellEditing, Drawn, EditTarget, Item, PaneDrawn};
use crate::app::layer::CellEdit;
use crate::app::pane::ItemId;
use crate::view::present::rows::{beside, ends, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::tpu::analysis::explained::{PodFacts, between};
use lightbay_engines::tpu::model::pod::{SWITCHES, switch_dimension};
use lightbay_engines::tpu::report::words;
use lightbay_widgets::{
    Label, PaneState as Shown, Piece, Theme, Tile, TileFlag, Tiles, TilesState, Tone, number,
};
use pairs::CubePairs;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

mod pairs;

/// Layout of the switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CrossingsForm {
    /// A row per cube, and a column per switch.
    Cubes,
    /// A square of switches per dimension, as on the faces of a cube.
    Faces,
    /// Number of circuits from cube to cube.
    Pairs,
}

/// Number of rows of the text below the tiles, and minimum numbers of rows for a picture or the links of a switch below
/// the text.
const ABOUT_TEXT: u16 = 3;
const MORE: u16 = 5;
const LEAST: u16 = 3;
/// Number of rows of a picture of the switches with the links of one of them, below the circuits from cube to cube.
const LEAST_MORE: u16 = 10;

/// Number of rows of the headings, of a picture of the faces, and of blank rows, besides a row per cube.
const PICTURES: u16 = 12;

/// Shade of the last cube, as a fraction of the brightest shade.
const BRIGHTEST: f64 = 0.6;

/// Maximum number of cubes whose circuits are listed.
const LISTED: usize = 8;

/// Number of columns of a pane below which its title names the meaning of the numbers.
const SMALL: u16 = 60;

/// Number of columns of the links of a switch.
const LINKS: u16 = 34;

/// Key of the state for which the data of the pane was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    plan: u64,
    against: u64,
    form: CrossingsForm,
    editing: bool,
    has_routes: bool,
}

/// Data of the pane, refilled when plan, form or edit change.
#[derive(Debug, Default)]
pub struct CrossingsPane {
    key: Option<Key>,
    tiles: Vec<Tile>,
    /// Switches by their positions on the faces of a cube, below the tiles of a large pane.
    faces: Vec<Tile>,
    /// Number of routes over the most loaded link of each switch, by its position; empty without routes.
    loads: Vec<Tile>,
    loads_heading: String,
    rows: Vec<Label>,
    heads: Vec<Label>,
    groups: Vec<Vec<Piece>>,
    items: Arc<[Item]>,
    editing: Option<Arc<CellEditing>>,
    pairs: CubePairs,
    state: TilesState,
}

/// The plan or torus with which circuits are compared.
pub struct Against<'a> {
    /// Number that identifies the plan or torus.
    pub key: u64,
    /// Name of the plan or torus: `B 2 pdtt`, `PDTT 4x8x8`.
    pub name: String,
    /// Links of the plan or torus.
    pub pod: &'a lightbay_engines::tpu::model::topology::Topology,
}

impl CrossingsPane {
    #[expect(clippy::too_many_arguments, reason = "the pane draws all of these values")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: &ExplainedPod,
        against: Option<&Against<'_>>,
        tori: Option<&Tori>,
        live: Option<&Live>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let facts = &plan.facts;
        let inner = body(area, 1);
        let form = Self::form(input, facts, inner.width);
        let edit = input.app.cell_edit().filter(|edit| edit.pane == input.pane);
        let key = Key {
            plan: plan.key,
            against: against.map_or(0, |against| against.key),
            form,
            editing: edit.is_some(),
            has_routes: facts.routes.is_some(),
        };
        if self.key != Some(key) || edit.is_some() {
            self.key = Some(key);
            self.fill(facts, against, form, edit);
            if edit.is_none() {
                self.editing = cell_editing(facts).filter(|_| plan.free).map(Arc::new);
            }
        }
        frame(input, &Self::title(facts, against, area.width), Shown::Ready, area, buf);
        if inner.is_empty() {
            return;
        }
        // In a small pane, the names of the dimensions replace the sentence.
        let has_sentence = edit.is_some() || usize::from(inner.height) != self.rows.len();
        let inner = if has_sentence { inner } else { body(area, 0) };
        let selected = Self::selected(input, edit);
        let theme = &input.app.look.theme;
        let mut hidden = None;
        if form == CrossingsForm::Pairs {
            let below = ABOUT_TEXT + 1 + LEAST_MORE;
            let has_below = inner.height >= facts.pod.cubes() as u16 + 3 + below;
            let above = inner.height - if has_below { below } else { 0 };
            let used = self.pairs.draw(input, facts, tori, Rect { height: above, ..inner }, buf) + 1;
            if has_below {
                Self::draw_about(input, plan, (form, tori), from(inner, used), buf);
                let rest = from(inner, used + ABOUT_TEXT + 1);
                self.draw_more(input, facts, (tori, selected), (form, self.loads.is_empty()), rest, buf);
            }
        } else {
            let tiles = Tiles::new(theme, &self.rows, Self::columns(form), &self.tiles)
                .groups(&self.groups)
                .editing(edit.is_some())
                .whole_columns(form == CrossingsForm::Cubes);
            // If room is short, headings are omitted before rows.
            let rows = self.rows.len() as u16;
            let tiles = if inner.height >= rows + 2 && form == CrossingsForm::Cubes {
                tiles.heads(&self.heads)
            } else {
                tiles
            };
            let tiles = if inner.height > rows { tiles } else { tiles.headings(false) };
            // Tiles grow into the rows that the text below does not need.
            let by_face = form == CrossingsForm::Faces;
            let pictures = if by_face { PICTURES - 7 } else { PICTURES };
            let below = ABOUT_TEXT + pictures + facts.pod.cubes() as u16;
            let spare = inner.height.saturating_sub(below) / rows.max(1);
            let tall = if theme.shades() { spare.clamp(1, TALL) } else { 1 };
            let (left, right) = if by_face { faces::two(inner) } else { (inner, Rect::ZERO) };
            let tall = if by_face { tall.min(faces::tall_for(left)) } else { tall };
            let tiles = tiles.tall(tall);
            let shown = tiles.groups_in(left.width);
            if shown < 3 && tiles.heading_rows() == 0 {
                hidden = Some(format!("{shown} of 3"));
            }
            let place = if shown > 0 { left } else { Rect { height: 0, ..left } };
            self.state.selected = selected.map(|switch| match form {
                CrossingsForm::Faces => faces::place_of(switch),
                _ => (self.state.row_offset, switch),
            });
            self.state.row_offset = if form == CrossingsForm::Cubes { input.state.offset } else { 0 };
            (&tiles).render(place, buf, &mut self.state);
            let used = (tiles.heading_rows() + self.state.rows_shown as u16 * tall + 1).min(inner.height);
            if !right.is_empty() {
                faces::draw_faces(input, &self.loads_heading, &self.loads, (tall, selected), right, buf);
            }
            Self::draw_about(input, plan, (form, tori), from(inner, used), buf);
            let rest = from(inner, used + ABOUT_TEXT + 1);
            if rest.height >= LEAST && (by_face || rest.height >= MORE) {
                let has_loads = !right.is_empty() || self.loads.is_empty();
                self.draw_more(input, facts, (tori, selected), (form, has_loads), rest, buf);
            }
            let of = |row: u32, column: u32| match form {
                CrossingsForm::Faces => faces::switch_at(row as usize, column as usize) as u32,
                _ => column,
            };
            let hits = self.state.hits.iter();
            out.hits.extend(hits.map(|hit| input.hit(hit.rect, of(hit.id, hit.part), Command::Inspect)));
        }
        let sentence = Self::sentence(input, facts, selected, edit, live);
        if has_sentence {
            line(theme, &sentence, below(inner), buf);
        }
        if let Some(hidden) = hidden {
            ends(theme, &sentence, &[Piece::muted(hidden)], below(inner), buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.chosen = selected.map(|switch| switch as ItemId);
        drawn.page = usize::from(inner.height).max(1);
        drawn.offset = self.state.row_offset;
        drawn.sentence = plain(&sentence);
        drawn.details = details(facts, selected);
        drawn.edit = self.editing.clone();
    }

    const fn columns(form: CrossingsForm) -> usize {
        match form {
            CrossingsForm::Faces => 12,
            _ => SWITCHES,
        }
    }

    /// Returns the chosen form, or the faces if the columns of all switches do not fit.
    fn form(input: &PaneInput<'_>, facts: &PodFacts, width: u16) -> CrossingsForm {
        let digits = facts.pod.cubes().saturating_sub(1).to_string().len() as u16;
        // With a blank between the numbers, two gaps between the dimensions, and the names of the cubes.
        let needed = (digits + 1) * SWITCHES as u16 + 2 + digits + 1;
        match input.mode() {
            "cube by cube" => CrossingsForm::Pairs,
            "by face" => CrossingsForm::Faces,
            _ if width < needed => CrossingsForm::Faces,
            _ => CrossingsForm::Cubes,
        }
    }

    fn selected(input: &PaneInput<'_>, edit: Option<&CellEdit>) -> Option<usize> {
        match edit {
            Some(edit) => Some(edit.entry),
            None => Some(input.state.selected.map_or(0, |id| id as usize)),
        }
        .filter(|switch| *switch < SWITCHES)
    }

    fn title(facts: &PodFacts, against: Option<&Against<'_>>, width: u16) -> Title {
        let circuits = SWITCHES * facts.pod.cubes();
        let differ =
            against.and_then(|against| Some((facts.circuits_that_differ(against.pod)?, &against.name)));
        let value = match differ {
            Some((count, name)) => {
                let mut value = vec![Piece::answer(format!(
                    "{} of {}",
                    number::count(count as u64),
                    number::count(circuits as u64)
                ))];
                value.push(Piece::muted(if width >= 70 {
                    format!(" circuits differ from {name}")
                } else {
                    " differ".to_owned()
                }));
                value
            }
            None => vec![Piece::answer(format!("{} circuits", number::count(circuits as u64)))],
        };
        // A small pane has no legend.
        let context = match &facts.group {
            Some(_) if width < SMALL => "voltage".to_owned(),
            None if width < SMALL => "from cube 0".to_owned(),
            Some(group) => group.clone(),
            None => "not symmetric".to_owned(),
        };
        Title { context: vec![Piece::muted(context)], value }
    }

    fn fill(
        &mut self,
        facts: &PodFacts,
        against: Option<&Against<'_>>,
        form: CrossingsForm,
        edit: Option<&CellEdit>,
    ) {
        let cubes = facts.pod.cubes();
        let against = against.filter(|against| against.pod.cubes() == cubes);
        let last = cubes.saturating_sub(1).max(1) as f64;
        // Cubes are no amounts, so the brightest shades are not used.
        let heat = |value: usize| Tone::Heat(Theme::heat_level(BRIGHTEST * value as f64 / last));
        let voltage = |switch: usize| match edit {
            Some(edit) => edit.values.get(switch).and_then(|value| usize::try_from(*value).ok()),
            None => facts.voltage(switch),
        };
        let flag = |switch: usize, differs: bool| match edit {
            Some(edit) if !edit.problem.is_empty() && edit.entry == switch => TileFlag::Bad,
            Some(edit) if edit.values.get(switch) != edit.cells.values.get(switch) => TileFlag::Changed,
            _ if differs => TileFlag::Differs,
            _ => TileFlag::Plain,
        };
        let group = facts.pod.symmetry().map(|symmetry| &symmetry.group);
        self.tiles.clear();
        self.faces.clear();
        (self.loads, self.loads_heading) = faces::loads_of(facts);
        self.rows.clear();
        self.heads.clear();
        self.groups.clear();
        self.groups.extend((0..3).map(|dimension| {
            vec![
                Piece::answer(words::axis(dimension)),
                Piece::muted(match form {
                    CrossingsForm::Faces => format!("  {}", words::face(dimension)),
                    _ => format!(" ports  {}", words::face(dimension)),
                }),
            ]
        }));
        match form {
            CrossingsForm::Cubes => {
                self.heads.extend((0..SWITCHES).map(|switch| Label::from((switch % 16).to_string())));
                self.rows.extend((0..cubes).map(|cube| Label::from(cube.to_string())));
                for cube in 0..cubes {
                    for switch in 0..SWITCHES {
                        let to = match (voltage(switch), group) {
                            // The digits update immediately while keys are pressed.
                            (Some(voltage), Some(group)) if voltage < cubes => group.times(cube, voltage),
                            _ => facts.pod.to(switch, cube),
                        };
                        let differs = against.is_some_and(|against| against.pod.to(switch, cube) != to);
                        self.tiles.push(Tile {
                            text: to.to_string().into(),
                            tone: heat(to),
                            flag: flag(switch, differs),
                        });
                    }
                }
            }
            CrossingsForm::Faces => self.rows.extend((0..4).map(|_| Label::from(""))),
            CrossingsForm::Pairs => {}
        }
        self.faces.extend((0..SWITCHES).map(|at| {
            let switch = faces::switch_at(at / 12, at % 12);
            // In a pod without symmetry, a switch is shown by its connection of cube 0.
            let shown = voltage(switch).unwrap_or_else(|| facts.pod.to(switch, 0));
            let differs = against.is_some_and(|against| against.pod.state(switch) != facts.pod.state(switch));
            Tile { text: shown.to_string().into(), tone: heat(shown), flag: flag(switch, differs) }
        }));
        if form == CrossingsForm::Faces {
            self.tiles.clone_from(&self.faces);
        }
        self.items = (0..SWITCHES as u32)
            .map(|switch| match form {
                CrossingsForm::Faces => {
                    let (row, column) = faces::place_of(switch as usize);
                    Item { id: switch, row: row as u32, place: column as f32 }
                }
                _ => Item { id: switch, row: 0, place: switch as f32 },
            })
            .collect::<Vec<_>>()
            .into();
        if form == CrossingsForm::Faces {
            let mut items = self.items.to_vec();
            items.sort_by(|a, b| a.row.cmp(&b.row).then(a.place.total_cmp(&b.place)));
            self.items = items.into();
        }
    }

    /// Draws circuits between cubes below the switches, if there is room.
    fn draw_about(
        input: &PaneInput<'_>,
        plan: &ExplainedPod,
        (form, tori): (CrossingsForm, Option<&Tori>),
        area: Rect,
        buf: &mut Buffer,
    ) {
        let theme = &input.app.look.theme;
        if area.is_empty() {
            return;
        }
        let facts = &plan.facts;
        let between = facts.between();
        let cubes = between.len();
        let within: u32 = (0..cubes).map(|cube| between[cube][cube]).sum::<u32>() / cubes.max(1) as u32;
        let mut pieces = vec![Piece::muted("circuits from cube 0")];
        let others = || between.first().into_iter().flatten().copied().enumerate().skip(1);
        if cubes > LISTED {
            let joined = || others().map(|(_, count)| count).filter(|count| *count > 0);
            let (low, high) = (joined().min().unwrap_or(0), joined().max().unwrap_or(0));
            pieces.push(Piece::text(format!("  {low} to {high}")));
            pieces.push(Piece::muted(format!(" to each of {} cubes", joined().count())));
        } else {
            for (to, count) in others() {
                pieces.push(Piece::muted(format!("  {to}:")));
                pieces.push(Piece::text(count.to_string()));
            }
        }
        pieces.push(Piece::muted("  within a cube "));
        pieces.push(Piece::text(within.to_string()));
        pieces.push(Piece::muted("  of 96 face ports"));
        line(theme, &pieces, row(area, 0), buf);
        let torus = tori.and_then(|tori| tori.torus(false));
        if let Some(torus) = torus {
            let (inside, neighbours) = torus_pairs(&torus.pod);
            let words = format!("{}: {inside} within a cube, {neighbours} to each neighbour", torus.name);
            line(theme, &[Piece::muted(words)], row(area, 1), buf);
        }
        let legend = match (facts.pod.symmetry().is_some(), plan.free) {
            _ if form == CrossingsForm::Pairs => {
                "number above: circuits between the cube of the row and the cube of the column"
            }
            (true, true) if form == CrossingsForm::Faces => {
                "number: voltage, the shift of a switch from cube to cube; e edits it"
            }
            (true, false) if form == CrossingsForm::Faces => {
                "number: voltage, the shift from cube to cube; edits need topology=design"
            }
            (false, _) if form == CrossingsForm::Faces => {
                "number: cube that the + port of cube 0 reaches; not symmetric, so no voltages"
            }
            (true, true) => "digit: cube that the + port reaches; e edits the shift (voltage) of a switch",
            (true, false) => "digit: cube that the + port reaches; edits need topology=design",
            _ => "digit: cube that the + port reaches; not symmetric, so no voltages",
        };
        line(theme, &[Piece::muted(legend)], row(area, 2), buf);
    }

    /// Draws, below the tiles and their text: the switches by face with their voltages (unless these are the tiles) and
    /// loads, then the links of the selected switch next to the circuits from cube to cube.
    fn draw_more(
        &mut self,
        input: &PaneInput<'_>,
        facts: &PodFacts,
        (tori, selected): (Option<&Tori>, Option<usize>),
        (form, has_loads): (CrossingsForm, bool),
        area: Rect,
        buf: &mut Buffer,
    ) {
        let theme = &input.app.look.theme;
        let has_voltages = form == CrossingsForm::Faces;
        let has_pairs = form == CrossingsForm::Pairs;
        let (left, right) = faces::two(area);
        let pairs = if has_pairs { LEAST } else { facts.pod.cubes() as u16 + 3 };
        let spare = area.height.saturating_sub(2 + pairs) / 4;
        let tall = if theme.shades() { spare.clamp(1, faces::tall_for(left)) } else { 1 };
        let used = 2 + 4 * tall;
        let word = if facts.pod.symmetry().is_some() { "voltage" } else { "to" };
        let mut rest = area;
        if !has_voltages {
            faces::draw_faces(input, word, &self.faces, (tall, selected), left, buf);
            rest = from(area, used);
        }
        if !has_loads && area.height >= MORE {
            let place = if has_voltages { left } else { right };
            faces::draw_faces(input, &self.loads_heading, &self.loads, (tall, selected), place, buf);
            rest = from(area, used);
        }
        let (left, right) = beside(rest, LINKS.min(rest.width), APART);
        if let Some(switch) = selected {
            for (at, pieces) in faces::links_of(facts, switch).iter().enumerate() {
                line(theme, pieces, row(left, at as u16), buf);
            }
        }
        let cubes = facts.pod.cubes() as u16;
        // Below a name and a row of headings, all rows must fit.
        if !has_pairs && right.width >= cubes * 3 + 3 && right.height >= cubes + 2 {
            self.pairs.draw(input, facts, tori, right, buf);
        }
    }

    fn sentence(
        input: &PaneInput<'_>,
        facts: &PodFacts,
        selected: Option<usize>,
        edit: Option<&CellEdit>,
        live: Option<&Live>,
    ) -> Vec<Piece> {
        let Some(switch) = selected else { return vec![Piece::muted("no switch selected")] };
        let arrow = input.app.look.theme.glyphs.arrow;
        if let Some(edit) = edit {
            if !edit.problem.is_empty() {
                return vec![Piece::new(format!("! {}", edit.problem), Tone::Bad)];
            }
            // The bar of the edit also names the face position.
            let name = format!("> {} {}", words::axis(switch_dimension(switch)), switch % 16);
            let mut pieces = vec![Piece::answer(name)];
            let new = edit.values.get(switch).copied().unwrap_or_default();
            pieces.push(Piece::muted("  voltage "));
            pieces.push(Piece::new(new.to_string(), Tone::Changed).bold());
            match live {
                Some(live) if edit.is_changed() => pieces.extend(live.pieces(base_of(input, facts))),
                _ if edit.is_changed() => pieces.push(Piece::muted("  bounds follow")),
                _ => pieces.push(Piece::muted("  + - or digits change it")),
            }
            return pieces;
        }
        let mut pieces = vec![Piece::answer(format!("> {}", words::switch(switch)))];
        if let Some(voltage) = facts.voltage(switch) {
            pieces.push(Piece::muted("  voltage "));
            pieces.push(Piece::answer(voltage.to_string()));
        }
        for (cube, to) in facts.pod.state(switch).iter().enumerate().take(8) {
            pieces.push(Piece::muted(if cube == 0 { "   " } else { " " }));
            pieces.push(Piece::text(format!("{cube}{arrow}{to}")));
        }
        if facts.pod.cubes() > 8 {
            pieces.push(Piece::muted(format!(" and {} more", facts.pod.cubes() - 8)));
        }
        pieces
    }
}

/// Returns hop bound and certified throughput of the original plan of an edit, because the pane may already show the
/// edited plan.
fn base_of(input: &PaneInput<'_>, facts: &PodFacts) -> (f64, f64) {
    let entry = input.app.plans.shown();
    let hops = entry.and_then(|entry| entry.metrics.get("avg_hops").copied());
    let bound = 6.0 / ((facts.chips() as f64 - 1.0) * hops.unwrap_or(facts.claims.avg_hops));
    (bound, entry.map_or(facts.claims.mcf_lower, |entry| entry.value))
}

/// Returns the number of circuits of a torus within a cube, and to each of its neighbours.
fn torus_pairs(pod: &lightbay_engines::tpu::model::topology::Topology) -> (u32, u32) {
    let count = between(pod);
    let row = count.first().map_or(&[][..], |row| row);
    (row.first().copied().unwrap_or(0), row.iter().skip(1).copied().find(|&count| count > 0).unwrap_or(0))
}

/// Returns the rules for editing the voltages of a symmetric pod; the resulting pod is evaluated.
fn cell_editing(facts: &PodFacts) -> Option<CellEditing> {
    let symmetry = facts.pod.symmetry()?;
    Some(CellEditing {
        method: "evaluate",
        target: EditTarget::Param("voltages"),
        values: symmetry.voltage.iter().map(|&voltage| i64::from(voltage)).collect(),
        range: (0, facts.pod.cubes().saturating_sub(1) as i64),
        names: (0..SWITCHES).map(words::switch).collect(),
        cells: (0..SWITCHES).map(|switch| (switch as ItemId, switch)).collect(),
        from_plan: true,
        variants: vec![("", Vec::new())],
    })
}

fn details(facts: &PodFacts, selected: Option<usize>) -> Vec<String> {
    let Some(switch) = selected else { return Vec::new() };
    let mut lines = vec![format!(
        "OCS {switch}: dimension {}, face position {}",
        words::axis(switch_dimension(switch)),
        words::switch(switch)
    )];
    if let Some(voltage) = facts.voltage(switch) {
        let group = facts.group.as_deref().unwrap_or("the pod");
        lines.push(format!("voltage {voltage}: cube c leads to the cube that the group operation of {group} gives for c and {voltage}"));
    }
    lines.extend(
        facts
            .pod
            .state(switch)
            .iter()
            .enumerate()
            .map(|(cube, to)| format!("  + port of cube {cube} to - port of cube {to}")),
    );
    lines.push(format!("the upper bound of this pod is {}", mcf(facts.claims.mcf_upper)));
    lines
}
