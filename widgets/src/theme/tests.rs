//! Readability and down-mapping of the palettes.

use super::*;

fn fg_bg(theme: &Theme, tone: Tone) -> ((u8, u8, u8), (u8, u8, u8)) {
    let c = Colours::of(theme.palette, theme.background);
    let style = theme.style(tone);
    let fg = style.fg.and_then(colour::rgb_of).or(colour::rgb_of(c.plain)).unwrap();
    let bg = style.bg.and_then(colour::rgb_of).or(colour::rgb_of(c.ground)).unwrap();
    (fg, bg)
}

const READ: [Tone; 9] = [
    Tone::Text,
    Tone::Answer,
    Tone::Muted,
    Tone::Forward,
    Tone::Backward,
    Tone::Gradient,
    Tone::Good,
    Tone::Bad,
    Tone::Changed,
];

#[test]
fn contrast_palette_reaches_seven_to_one() {
    for background in [Background::Dark, Background::Light] {
        let theme = Theme::new(Palette::Contrast, ColorDepth::TrueColor, background, GlyphSet::Braille);
        for tone in READ.into_iter().chain((0..8).map(Tone::Heat)).chain((0..4).map(Tone::Stack)) {
            let (fg, bg) = fg_bg(&theme, tone);
            let ratio = colour::contrast(fg, bg);
            assert!(ratio >= 7.0, "{tone:?} on {background:?}: {ratio:.2}");
        }
    }
}

#[test]
fn no_curve_has_the_colour_of_a_state() {
    for palette in [Palette::Okabe, Palette::Contrast, Palette::Ansi] {
        for background in [Background::Dark, Background::Light] {
            let c = Colours::of(palette, background);
            for (at, colour) in c.series.iter().enumerate() {
                assert!(![c.good, c.bad, c.changed, c.plain].contains(colour), "{palette:?} {at}");
                assert!(!c.series[..at].contains(colour), "{palette:?} {at} is there already");
            }
        }
    }
}

#[test]
fn default_palette_text_stays_readable_on_both_grounds() {
    for background in [Background::Dark, Background::Light] {
        let theme = Theme::new(Palette::Okabe, ColorDepth::TrueColor, background, GlyphSet::Braille);
        for tone in READ {
            let (fg, bg) = fg_bg(&theme, tone);
            assert!(
                colour::contrast(fg, bg) >= 4.5,
                "{tone:?} on {background:?}: {:.2}",
                colour::contrast(fg, bg)
            );
        }
        for tone in (0..8).map(Tone::Heat) {
            let (fg, bg) = fg_bg(&theme, tone);
            assert!(
                colour::contrast(fg, bg) >= 3.0,
                "{tone:?} on {background:?}: {:.2}",
                colour::contrast(fg, bg)
            );
        }
    }
}

#[test]
fn the_cursor_is_readable_on_every_shade() {
    for palette in [Palette::Okabe, Palette::Contrast] {
        for background in [Background::Dark, Background::Light] {
            let theme = Theme::new(palette, ColorDepth::TrueColor, background, GlyphSet::Braille);
            for tone in (0..8).map(Tone::Heat).chain([Tone::Text, Tone::Changed, Tone::Muted]) {
                let style = theme.style(tone).patch(theme.cursor());
                let colours = [style.fg, style.bg].map(|colour| colour.and_then(colour::rgb_of).unwrap());
                assert!(
                    colour::contrast(colours[0], colours[1]) >= 7.0,
                    "{palette:?} {background:?} {tone:?}"
                );
                assert!(!style.add_modifier.contains(Modifier::REVERSED));
            }
        }
    }
}

#[test]
fn depth_none_writes_no_colour_at_all() {
    for palette in Palette::ALL {
        let theme = Theme::new(palette, ColorDepth::None, Background::Dark, GlyphSet::Ascii);
        assert_eq!(theme.palette, Palette::Mono);
        for tone in
            READ.into_iter().chain([Tone::Heat(3), Tone::Stack(1), Tone::GradientDim, Tone::Series(2)])
        {
            let style = theme.style(tone);
            assert_eq!((style.fg, style.bg), (None, None), "{tone:?}");
        }
        for style in [theme.header(), theme.selected(), theme.popup(), theme.cursor()] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}

#[test]
fn indexed_depth_uses_the_cube_and_sixteen_colours_use_names() {
    let theme = Theme::new(Palette::Okabe, ColorDepth::Indexed, Background::Dark, GlyphSet::Braille);
    // 56B4E9 lies next to 5FAFD7 (index 74) of the cube and 5FAFFF (75); 74 is nearer.
    assert_eq!(theme.style(Tone::Forward).fg, Some(Color::Indexed(74)));
    let theme = Theme::new(Palette::Okabe, ColorDepth::Ansi16, Background::Dark, GlyphSet::Braille);
    assert_eq!(theme.palette, Palette::Ansi);
    assert_eq!(theme.style(Tone::Forward).fg, Some(Color::Cyan));
}

#[test]
fn heat_level_covers_zero_to_one_and_survives_odd_numbers() {
    let levels = [0.0, 0.125, 0.375, 0.5, 0.75, 1.0].map(Theme::heat_level);
    assert_eq!(levels, [0, 1, 3, 4, 5, 7]);
    assert_eq!([f64::NAN, -3.0, f64::INFINITY].map(Theme::heat_level), [0, 0, 7]);
}

#[test]
fn fading_mixes_a_third_with_the_ground() {
    let theme = Theme::default();
    let faded = theme.faded(Style::new().fg(Color::Rgb(16, 20, 24)).bg(Color::Reset));
    assert_eq!(faded.fg, Some(Color::Rgb(16, 20, 24)));
    let faded = theme.faded(Style::new().fg(Color::Rgb(46, 80, 24)));
    assert_eq!(faded.fg, Some(Color::Rgb(26, 40, 24)));
    assert!(Theme::mono(GlyphSet::Ascii).faded(Style::new()).add_modifier.contains(Modifier::DIM));
}
