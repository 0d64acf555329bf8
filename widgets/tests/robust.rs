//! Any data in any area: nothing panics, nothing is drawn outside, ASCII stays ASCII.
#![allow(clippy::unwrap_used, reason = "a failed test may stop")]

use lightbay_widgets::*;
use proptest::prelude::*;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::widgets::{StatefulWidget, Widget};

fn themes() -> Vec<Theme> {
    vec![
        Theme::default(),
        Theme::default().with_glyphs(GlyphSet::Block),
        Theme::mono(GlyphSet::Ascii),
        Theme::new(Palette::Ansi, ColorDepth::Ansi16, Background::Dark, GlyphSet::Ascii),
    ]
}

/// Draws into a part of a larger buffer, with every theme, and checks what came of it.
fn check(area: Rect, mut draw: impl FnMut(&Theme, Rect, &mut Buffer)) -> Result<(), TestCaseError> {
    for theme in themes() {
        let mut blank = Cell::default();
        blank.set_symbol("Z");
        // The area may reach beyond the buffer.
        let mut buf = Buffer::filled(Rect::new(0, 0, 205, 72), blank.clone());
        draw(&theme, area, &mut buf);
        let inside = area.intersection(buf.area);
        for y in 0..buf.area.height {
            for x in 0..buf.area.width {
                let cell = buf.cell((x, y)).unwrap();
                let within = inside.contains((x, y).into());
                if !within {
                    prop_assert_eq!(cell, &blank, "outside {:?} at {},{}", area, x, y);
                }
                if within && theme.is_ascii() {
                    let printable = cell.symbol().bytes().all(|b| (0x20..=0x7e).contains(&b));
                    prop_assert!(printable, "{:?} at {},{}", cell.symbol(), x, y);
                }
                let control = cell.symbol().chars().any(char::is_control);
                prop_assert!(!control, "{:?} at {},{}", cell.symbol(), x, y);
            }
        }
    }
    Ok(())
}

fn area() -> impl Strategy<Value = Rect> {
    let side = |most: u16| prop_oneof![1 => Just(0), 2 => 1..6u16, 5 => 0..=most];
    (0..8u16, 0..4u16, side(200), side(70)).prop_map(|(x, y, width, height)| Rect::new(x, y, width, height))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z_>* 0-9]{0,14}",
        1 => "\\PC{0,12}",
        1 => any::<String>().prop_map(|text| text.chars().take(20).collect()),
        1 => Just("\u{1b}[31m光学e\u{301}\u{202e}👩‍👩‍👧\u{7}".to_owned()),
    ]
}

fn label() -> impl Strategy<Value = Label> {
    text().prop_map(Label::from)
}

fn tone() -> impl Strategy<Value = Tone> {
    prop_oneof![
        Just(Tone::Text),
        Just(Tone::Answer),
        Just(Tone::Muted),
        Just(Tone::Gradient),
        Just(Tone::Bad),
        any::<u8>().prop_map(Tone::Series),
        any::<u8>().prop_map(Tone::Heat),
        any::<u8>().prop_map(Tone::Stack),
    ]
}

fn piece() -> impl Strategy<Value = Piece> {
    (label(), tone(), any::<bool>()).prop_map(|(text, tone, bold)| Piece { text, tone, bold })
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    prop::collection::vec(piece(), 0..5)
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![6 => -10.0..100.0f64, 1 => any::<f64>(), 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(0.0)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn lines(
        area in area(),
        segments in prop::collection::vec((label(), label(), label(), 0..5u8, any::<bool>()), 0..8),
        state in pieces(),
        tabs in prop::collection::vec((label(), label(), label()), 0..12),
        focus in 0..12u32,
    ) {
        let segments: Vec<_> = segments
            .into_iter()
            .map(|(label, value, suffix, priority, flag)| Segment {
                label, value, suffix, priority, plain: flag,
            })
            .collect();
        let tabs: Vec<_> =
            (0..).zip(tabs).map(|(id, (key, name, short))| Tab::new(id, key, name).short(short)).collect();
        let hints: Vec<_> = tabs
            .iter()
            .map(|tab| KeyHint { keep: tab.id % 4 == 0, ..KeyHint::new(tab.id, tab.key.clone(), tab.name.clone()) })
            .collect();
        check(area, |theme, area, buf| {
            let mut hits = Hits::default();
            Header::new(theme, &segments, &state).brand("lightbay").render(area, buf);
            Tabs::new(theme, &tabs).focused(focus).right(&state).render(area, buf, &mut hits);
            Footer::new(theme, &hints).render(area, buf, &mut hits);
            Sentence::new(theme, &state).wrap(true).render(area, buf);
            Sentence::new(theme, &state).render(area, buf);
        })?;
    }

    #[test]
    fn frames(area in area(), name in text(), context in pieces(), value in pieces(), words in text(), time_s in number()) {
        let states = [
            PaneState::Ready,
            PaneState::Empty { what: &words, remedy: &name },
            PaneState::Waiting(&words),
            PaneState::Stale(&words),
            PaneState::Failed { what: &words, remedy: &name },
        ];
        let entries = [LogEntry {
            time_s, severity: Severity::Error, source: name.clone().into(), message: words.clone().into(),
        }];
        check(area, |theme, area, buf| {
            for state in states {
                Pane::new(theme, &name).number(7).context(&context).value(&value).state(state).render(area, buf);
            }
            let inner = Pane::inner(area);
            assert!(area.intersection(inner) == inner || inner.is_empty());
            LogLines::new(theme, &entries).right(&value).render(area, buf);
            TooSmall::new(theme, 60, 16).state(&words).hint(&name).render(area, buf);
            Popup::dim(theme, area, buf);
            Popup::new(theme, &name).value(&value).render(area, buf);
            let inner = Popup::inner(area);
            assert!(area.intersection(inner) == inner || inner.is_empty());
            let answers = [name.as_str(), words.as_str()];
            Confirm::new(theme, &words, &answers).meaning(&name).chosen(1).render(area, buf, &mut Hits::default());
            Input::new(theme, &words, name.len()).prompt(&name).hint(&name).problem(&name).render(area, buf);
            Input::new(theme, &words, 2).render(area, buf);
        })?;
    }

    #[test]
    fn lists(
        area in area(),
        rows in prop::collection::vec((label(), label(), pieces(), 0..4u8), 0..40),
        widths in prop::collection::vec((label(), 0..30u16, 0..3u8, any::<bool>()), 0..30),
        selected in 0..40u32,
        offset in any::<usize>(),
    ) {
        let columns: Vec<_> = widths
            .iter()
            .map(|(title, width, priority, right)| {
                let column = if *right {
                    Column::right(title.clone(), *width)
                } else {
                    Column::left(title.clone(), *width).grow()
                };
                column.priority(*priority)
            })
            .collect();
        let kinds = [RowKind::Item, RowKind::Fixed, RowKind::Heading, RowKind::Gap];
        let table: Vec<_> = (0..)
            .zip(&rows)
            .map(|(id, (mark, _, cells, kind))| TableRow {
                id, kind: kinds[usize::from(*kind)], mark: mark.clone(), cells: cells.clone(),
            })
            .collect();
        let kinds = [FormKind::Field, FormKind::Field, FormKind::Heading, FormKind::Note];
        let form: Vec<_> = (0..)
            .zip(&rows)
            .map(|(id, (name, value, _, kind))| FormRow {
                id,
                kind: kinds[usize::from(*kind)],
                name: name.clone(),
                value: value.clone(),
                unit: value.clone(),
                changed: *kind == 1,
                was: name.clone(),
                problem: if *kind == 0 { name.clone() } else { Label::default() },
            })
            .collect();
        let items: Vec<_> = (0..)
            .zip(&rows)
            .map(|(id, (name, detail, _, kind))| ListItem {
                heading: *kind == 3,
                ..ListItem::new(id, name.clone())
                    .detail(detail.clone())
                    .right(detail.clone())
                    .matches(vec![0, 2, 3, u32::from(*kind) + 9])
            })
            .collect();
        let help: Vec<_> = rows
            .iter()
            .map(|(keys, sentence, _, kind)| match kind {
                0 => HelpLine::Heading(keys.clone()),
                1 => HelpLine::Gap,
                2 => HelpLine::Words(sentence.clone()),
                _ => HelpLine::Key { keys: keys.clone(), sentence: sentence.clone() },
            })
            .collect();
        check(area, |theme, area, buf| {
            let mut state = TableState { selected: Some(selected), offset, ..TableState::default() };
            Table::new(theme, &columns, &table).render(area, buf, &mut state);
            let mut state = FormState { selected: Some(selected), offset, ..FormState::default() };
            Form::new(theme, &form).render(area, buf, &mut state);
            Form::new(theme, &form).edit(Edit { text: "12光\u{1b}", cursor: 3 }).render(area, buf, &mut state);
            let mut state = ListState { selected: Some(selected), offset, ..ListState::default() };
            List::new(theme, &items).render(area, buf, &mut state);
            Help::new(theme, &help).render(area, buf, &mut HelpState { offset, rows: 0 });
        })?;
    }

    #[test]
    fn matrices(
        area in area(),
        rows in prop::collection::vec(label(), 0..70),
        columns in prop::collection::vec(label(), 0..70),
        cells in prop::collection::vec((any::<Option<i32>>(), any::<i32>(), any::<Option<u8>>(), 0..3u8), 0..200),
        sums in prop::collection::vec((any::<u32>(), any::<u32>()), 0..70),
        selected in any::<Option<(u8, u8)>>(),
    ) {
        let flags = [CellFlag::Plan, CellFlag::Edited, CellFlag::Refused];
        let cells: Vec<_> = cells
            .into_iter()
            .map(|(value, difference, heat, flag)| MatrixCell {
                value, difference, heat, flag: flags[usize::from(flag)],
            })
            .collect();
        let sums: Vec<_> = sums.into_iter().map(|(used, limit)| RowSum { used, limit }).collect();
        check(area, |theme, area, buf| {
            let selected = selected.map(|(row, column)| (usize::from(row), usize::from(column)));
            let mut state = MatrixState { selected, ..MatrixState::default() };
            Matrix::new(theme, &rows, &columns, &cells).sums(&sums).editing(true).render(area, buf, &mut state);
            state.step(rows.len(), columns.len(), 1, -1);
            Matrix::new(theme, &rows, &columns, &cells).render(area, buf, &mut state);
        })?;
    }

    #[test]
    fn curves(
        area in area(),
        curves in prop::collection::vec((label(), prop::collection::vec((number(), number()), 0..60), any::<char>()), 0..20),
        lines in prop::collection::vec((label(), number()), 0..6),
        scales in (0..3usize, 0..3usize),
        bounds in prop::option::of((number(), number())),
    ) {
        let series: Vec<_> = curves
            .into_iter()
            .enumerate()
            .map(|(i, (name, points, letter))| Series {
                name, points, tone: Tone::Series(i as u8), bold: false, letter, step: i % 2 == 0, dotted: i % 3 == 0,
                marked: i % 4 == 0,
            })
            .collect();
        let baselines: Vec<_> = lines.iter().map(|(name, value)| Baseline { name: name.clone(), value: *value }).collect();
        let events: Vec<_> = lines.iter().map(|(name, at)| Event { name: name.clone(), at: *at, cursor: false }).collect();
        let scale = [Scale::Linear, Scale::Log, Scale::LogFromZero];
        check(area, |theme, area, buf| {
            let x = Axis { scale: scale[scales.0], unit: "generation", bounds, whole: true, bytes: false, times: scales.0 == 1 };
            let y = Axis { scale: scale[scales.1], unit: "ms", bounds, whole: false, bytes: false, times: false };
            Chart::new(theme, &series, x, y).baselines(&baselines).events(&events).render(area, buf);
        })?;
    }

    #[test]
    fn networks(
        area in area(),
        nodes in prop::collection::vec((label(), number(), number(), tone()), 0..20),
        links in prop::collection::vec((0..24usize, 0..24usize, tone(), any::<char>(), any::<bool>()), 0..40),
        selected in prop::option::of((0..24usize, 0..24usize)),
    ) {
        let node = |(name, x, y, tone)| GraphNode { name, place: [x, y], tone };
        let nodes: Vec<_> = nodes.into_iter().map(node).collect();
        let edge = |(from, to, tone, letter, dotted)| GraphEdge { ends: [from, to], tone, letter, dotted, short: from > to, wraps: to == 0 };
        let edges: Vec<_> = links.into_iter().map(edge).collect();
        check(area, |theme, area, buf| {
            NetworkGraph::new(theme, &nodes, &edges)
                .selected(selected.map(|(from, to)| [from, to]))
                .render(area, buf);
        })?;
    }

    #[test]
    fn lanes(
        area in area(),
        rows in prop::collection::vec((label(), label(), prop::collection::vec((number(), number(), tone()), 0..9)), 0..12),
        window in (number(), number()),
        selected in 0..40u32,
    ) {
        let mut id = 0;
        let lanes: Vec<_> = rows
            .into_iter()
            .map(|(name, words, mut spans)| {
                spans.sort_by(|a, b| a.0.total_cmp(&b.0));
                let bar = |(from, to, tone)| {
                    id += 1;
                    SpanBar { id, from, to, tone, letter: '#', thin: id % 3 == 0, idle: 0.0 }
                };
                SpanLane { name, tone: Tone::Text, words, bars: spans.into_iter().map(bar).collect() }
            })
            .collect();
        let mut state = SpanLanesState { selected: Some(selected), ..SpanLanesState::default() };
        check(area, |theme, area, buf| {
            SpanLanes::new(theme, &lanes, window, "us").words("sum").render(area, buf, &mut state);
        })?;
    }

    #[test]
    fn bars(
        area in area(),
        rows in prop::collection::vec((label(), label(), prop::option::of((number(), number())), tone()), 0..12),
        mark in number(),
        name in pieces(),
        limit in number(),
        times in prop::collection::vec(number(), 0..12),
    ) {
        let bar: Vec<_> = rows
            .iter()
            .map(|(_, _, span, tone)| Part::new(span.map_or(f64::NAN, |span| span.0), *tone, '#'))
            .collect();
        let pairs: Vec<_> = rows
            .iter()
            .map(|(name, value, span, tone)| PairRow {
                name: Piece::new(name.clone(), *tone),
                new_s: *span,
                old_s: span.map(|(a, b)| (b, a)),
                difference: Piece::text(value.clone()),
            })
            .collect();
        let layers: Vec<_> = rows
            .iter()
            .map(|(name, value, span, _)| StackLayer {
                name: name.clone(),
                shade: name.len() as u8,
                letter: value.chars().next().unwrap_or(' '),
                amounts: span.map_or(Vec::new(), |(a, b)| vec![a, b, a, b, b, a]),
            })
            .collect();
        let marks = [StackMark { at_s: mark, name: "ends".into(), tone: Tone::Good, dotted: true }];
        let methods: Vec<_> = (0..)
            .zip(&rows)
            .map(|(id, (method, value, _, _))| MethodRow {
                id,
                name: method.clone(),
                value: value.clone(),
                state: RunWord::Running,
                elapsed: value.clone(),
                note: name.clone(),
            })
            .collect();
        check(area, |theme, area, buf| {
            Meter::new(theme, &bar, limit).start(mark).track(true).render(area, buf);
            PairedBars::new(theme, &pairs).title("gradients").render(area, buf);
            let stack = Stack::new(theme, &times, &layers).limit(limit, "8 circuits").marks(&marks);
            stack.top(mark).selected(Some(1)).render(area, buf);
            stack.span_s(mark, limit).render(area, buf);
            let bar = GapBar::new(theme, mark, Some(limit), Some(mark + 1.0));
            bar.render(area, buf);
            let strip = SolveStrip::new(theme, &methods).ends(&name, &name, &name).bar(bar).caption(&name, &name);
            strip.render(area, buf, &mut Hits::default());
        })?;
    }

    #[test]
    fn schedules(
        area in area(),
        tasks in prop::collection::vec((label(), number(), number(), 0..9usize, 0..4u16), 0..60),
        intervals in prop::collection::vec((number(), number()), 0..40),
        parts in prop::collection::vec(prop::option::of((number(), number(), any::<u16>())), 0..6),
        selected in any::<Option<u8>>(),
        span in 0..60usize,
        offset in any::<usize>(),
    ) {
        let columns: Vec<_> =
            intervals.iter().map(|&(start_s, length_s)| Interval { start_s, length_s }).collect();
        let rows: Vec<_> = (0..)
            .zip(&tasks)
            .map(|(id, (name, a, b, first, kind))| ActivityRow {
                id,
                kind: if *kind == 0 { ActivityKind::Capacity } else { ActivityKind::Task },
                name: name.clone(),
                tone: Tone::Gradient,
                critical: *kind == 1,
                first: *first,
                amounts: vec![*a, *b, 0.0, *a, 4.0],
                full: *b,
                window: (*kind == 2).then_some(*first..*first + 6),
            })
            .collect();
        let lanes: Vec<_> = tasks
            .iter()
            .take(7)
            .map(|(name, ..)| Lane { name: name.clone(), rail: true, rows: 2, folded: vec![3, 0, u32::MAX], id: 4 })
            .collect();
        let shapes = [ItemShape::Forward, ItemShape::Backward, ItemShape::Bar, ItemShape::Bar];
        let items: Vec<_> = (0..)
            .zip(&tasks)
            .map(|(id, (name, a, b, lane, row))| TimelineItem {
                id,
                lane: *lane,
                row: *row,
                start_s: *a,
                end_s: *b,
                name: name.clone(),
                shape: shapes[usize::from(*row)],
                critical: id % 3 == 0,
            })
            .collect();
        let edges = [
            Edge { from: 0, to: 1, label: "+155.9 ms".into() },
            Edge { from: 5, to: 2, label: "x".into() },
            Edge { from: usize::MAX, to: 3, label: Label::default() },
        ];
        let parts: Vec<_> = parts
            .into_iter()
            .map(|part| part.map_or(AxisPart::Fold, |(from_s, to_s, weight)| AxisPart::Span { from_s, to_s, weight }))
            .collect();
        check(area, |theme, area, buf| {
            let selected = selected.map(u32::from);
            for scale in [ActivityScale::Equal, ActivityScale::Proportional(span)] {
                let mut state = ActivityState {
                    selected, interval: Some(span), column_offset: offset, row_offset: offset, ..ActivityState::default()
                };
                Activity::new(theme, &columns, &rows).scale(scale).windows(true).render(area, buf, &mut state);
            }
            let mut state = TimelineState { selected, offset, ..TimelineState::default() };
            let timeline = Timeline::new(theme, &parts, &lanes, &items).edges(&edges);
            timeline.render(area, buf, &mut state);
            let _ = timeline.column_s(area.width);
        })?;
    }

    #[test]
    fn numbers_fit_or_stay_whole(value in number(), decimals in 0..9usize, width in 0..20usize) {
        let num = number::fit(value, decimals, width);
        // Either it fits, or no shorter form exists and all digits are there.
        prop_assert!(num.len() <= width || num == number::fixed(value, decimals));
        prop_assert!(num.bytes().all(|b| (0x20..=0x7e).contains(&b)));
    }
}
