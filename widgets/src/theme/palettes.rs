//! The colours of each palette on dark and light background.

use ratatui_core::style::Color;

use super::{Area, Background, Palette};

/// All colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Colours {
    /// Background that the terminal is assumed to show; like `plain`, it is only used for mixing.
    pub ground: Color,
    pub plain: Color,
    pub text: Color,
    pub muted: Color,
    pub rule: Color,
    pub faint: Color,
    pub header: Color,
    pub selected: Color,
    pub popup: Color,
    pub forward: Color,
    pub backward: Color,
    pub gradient: Color,
    pub good: Color,
    pub bad: Color,
    pub changed: Color,
    pub gradient_dim: Area,
    pub gradient_full: Area,
    /// Colours of curves; none of them is a colour of a state, so curves do not look proven, broken or changed.
    pub series: [Color; 6],
    pub heat: [Area; 8],
    pub stack: [Area; 4],
}

const fn hex(value: u32) -> Color {
    Color::Rgb((value >> 16) as u8, (value >> 8) as u8, value as u8)
}

const INK: Color = hex(0x101418);
const PAPER: Color = hex(0xFFFFFF);

/// The cividis colour map in eight steps of equal lightness difference, which stay distinct in grey and in print.
const CIVIDIS: [Area; 8] = [
    (hex(0x00224E), PAPER),
    (hex(0x253F6C), PAPER),
    (hex(0x4A566C), PAPER),
    (hex(0x6A6D72), PAPER),
    (hex(0x8B8978), INK),
    (hex(0xAFA473), INK),
    (hex(0xD5C35F), INK),
    (hex(0xFEE838), INK),
];

/// Returns the steps for a light background, on which large amounts are dark.
const fn reversed([a, b, c, d, e, f, g, h]: [Area; 8]) -> [Area; 8] {
    [h, g, f, e, d, c, b, a]
}

/// One hue in four steps; later layers are lighter.
const AMBER: [Area; 4] =
    [(hex(0x6B4A06), PAPER), (hex(0x966800), PAPER), (hex(0xC98A00), INK), (hex(0xFFC861), INK)];

const OKABE_DARK: Colours = Colours {
    ground: INK,
    plain: hex(0xD8DEE9),
    text: Color::Reset,
    muted: hex(0x8A95A3),
    rule: hex(0x3A444F),
    faint: hex(0x242C34),
    header: hex(0x171D23),
    selected: hex(0x1F2A35),
    popup: hex(0x161C22),
    forward: hex(0x56B4E9),
    backward: hex(0xCC79A7),
    gradient: hex(0xE69F00),
    good: hex(0x009E73),
    bad: hex(0xD55E00),
    changed: hex(0xF0E442),
    gradient_dim: (hex(0x4D3B10), hex(0xE69F00)),
    gradient_full: (hex(0xE69F00), INK),
    series: [hex(0x56B4E9), hex(0xE69F00), hex(0xCC79A7), hex(0x9AA5FF), hex(0xC9B58B), hex(0x9FB3C8)],
    heat: CIVIDIS,
    stack: AMBER,
};

const OKABE_LIGHT: Colours = Colours {
    ground: PAPER,
    plain: hex(0x1B2127),
    text: Color::Reset,
    muted: hex(0x5A6572),
    rule: hex(0xB4BDC6),
    faint: hex(0xDDE2E7),
    header: hex(0xE9EDF1),
    selected: hex(0xD5E3F0),
    popup: hex(0xF1F4F7),
    forward: hex(0x0072B2),
    backward: hex(0x9B3D73),
    gradient: hex(0x8A5A00),
    good: hex(0x00714F),
    bad: hex(0xA84400),
    changed: hex(0x7A6000),
    gradient_dim: (hex(0xF6E3B8), hex(0x6B4600)),
    gradient_full: (hex(0xE69F00), INK),
    series: [hex(0x0072B2), hex(0x8A5A00), hex(0x9B3D73), hex(0x4A52C8), hex(0x6E6339), hex(0x4F6375)],
    heat: reversed(CIVIDIS),
    stack: AMBER,
};

const GREYS: [Area; 8] = [
    (hex(0x000000), PAPER),
    (hex(0x1A1A1A), PAPER),
    (hex(0x2E2E2E), PAPER),
    (hex(0x404040), PAPER),
    (hex(0xC0C0C0), hex(0x000000)),
    (hex(0xD2D2D2), hex(0x000000)),
    (hex(0xE6E6E6), hex(0x000000)),
    (hex(0xFFFFFF), hex(0x000000)),
];

const CONTRAST_DARK: Colours = Colours {
    plain: PAPER,
    muted: hex(0xC4CCD6),
    rule: hex(0x8A95A3),
    faint: hex(0x59636E),
    header: hex(0x000000),
    selected: hex(0x26323E),
    popup: hex(0x000000),
    forward: hex(0x8CCFFF),
    backward: hex(0xF2B0DA),
    gradient: hex(0xFFC04D),
    good: hex(0x66E3B1),
    bad: hex(0xFFA573),
    changed: hex(0xF0E442),
    gradient_dim: (hex(0x2A2006), hex(0xFFC04D)),
    gradient_full: (hex(0xFFC04D), hex(0x000000)),
    series: [hex(0x8CCFFF), hex(0xFFC04D), hex(0xF2B0DA), hex(0xB9C0FF), hex(0xE5D3A8), hex(0xC4D3E0)],
    heat: GREYS,
    stack: [
        (hex(0x2E2E2E), PAPER),
        (hex(0xC0C0C0), hex(0x000000)),
        (hex(0x404040), PAPER),
        (hex(0xFFFFFF), hex(0x000000)),
    ],
    ..OKABE_DARK
};

const CONTRAST_LIGHT: Colours = Colours {
    plain: hex(0x000000),
    muted: hex(0x3A424B),
    rule: hex(0x6B7682),
    faint: hex(0xA9B2BB),
    header: hex(0xFFFFFF),
    selected: hex(0xDCE8F3),
    popup: hex(0xFFFFFF),
    forward: hex(0x004A75),
    backward: hex(0x6E1F4E),
    gradient: hex(0x5C3A00),
    good: hex(0x004F37),
    bad: hex(0x7A2E00),
    changed: hex(0x4F3E00),
    gradient_dim: (hex(0xFBEFD2), hex(0x5C3A00)),
    series: [hex(0x004A75), hex(0x5C3A00), hex(0x6E1F4E), hex(0x2B2F93), hex(0x4A431F), hex(0x2F3F4D)],
    heat: reversed(GREYS),
    stack: CONTRAST_DARK.stack,
    ..OKABE_LIGHT
};

const ANSI: Colours = Colours {
    ground: Color::Reset,
    plain: Color::Reset,
    text: Color::Reset,
    muted: Color::DarkGray,
    rule: Color::DarkGray,
    faint: Color::DarkGray,
    header: Color::Reset,
    selected: Color::Reset,
    popup: Color::Reset,
    forward: Color::Cyan,
    backward: Color::Magenta,
    gradient: Color::Yellow,
    good: Color::Green,
    bad: Color::Red,
    changed: Color::LightYellow,
    gradient_dim: (Color::DarkGray, Color::White),
    gradient_full: (Color::Yellow, Color::Black),
    // Bright colours, whose dim forms are the plain ones.
    series: [Color::LightBlue, Color::LightCyan, Color::LightMagenta, Color::Gray, Color::White, Color::Cyan],
    // No colour of a state is a step.
    heat: [
        (Color::Black, Color::White),
        (Color::Blue, Color::White),
        (Color::Blue, Color::White),
        (Color::DarkGray, Color::White),
        (Color::Cyan, Color::Black),
        (Color::Cyan, Color::Black),
        (Color::Gray, Color::Black),
        (Color::White, Color::Black),
    ],
    stack: [
        (Color::DarkGray, Color::White),
        (Color::Yellow, Color::Black),
        (Color::Gray, Color::Black),
        (Color::LightYellow, Color::Black),
    ],
};

/// On a light background, the plain colours are the strong ones, and large amounts are dark.
const ANSI_LIGHT: Colours = Colours {
    series: [Color::Blue, Color::Cyan, Color::Magenta, Color::DarkGray, Color::Black, Color::LightBlue],
    heat: reversed(ANSI.heat),
    ..ANSI
};

impl Colours {
    pub const fn of(palette: Palette, background: Background) -> Self {
        match (palette, background) {
            (Palette::Okabe, Background::Dark) => OKABE_DARK,
            (Palette::Okabe, Background::Light) => OKABE_LIGHT,
            (Palette::Contrast, Background::Dark) => CONTRAST_DARK,
            (Palette::Contrast, Background::Light) => CONTRAST_LIGHT,
            (Palette::Ansi, Background::Light) => ANSI_LIGHT,
            (Palette::Ansi | Palette::Mono, _) => ANSI,
        }
    }

    /// Applies `f` to every colour.
    pub fn map(self, f: impl Fn(Color) -> Color) -> Self {
        let area = |(a, b): Area| (f(a), f(b));
        Self {
            ground: f(self.ground),
            plain: f(self.plain),
            text: f(self.text),
            muted: f(self.muted),
            rule: f(self.rule),
            faint: f(self.faint),
            header: f(self.header),
            selected: f(self.selected),
            popup: f(self.popup),
            forward: f(self.forward),
            backward: f(self.backward),
            gradient: f(self.gradient),
            good: f(self.good),
            bad: f(self.bad),
            changed: f(self.changed),
            gradient_dim: area(self.gradient_dim),
            gradient_full: area(self.gradient_full),
            series: self.series.map(&f),
            heat: self.heat.map(area),
            stack: self.stack.map(area),
        }
    }
}
