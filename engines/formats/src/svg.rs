//! Pictures (SVG 1.1): self-contained, nothing is loaded from other places; hatching repeats the meaning of colours, so
//! that pictures can be printed in black and white.

pub mod matrix;

use crate::graph::xml;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Colour or pattern that fills an area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fill {
    /// No fill.
    #[default]
    None,
    /// White.
    White,
    /// Light grey.
    Light,
    /// Grey.
    Grey,
    /// Black.
    Black,
    /// Blue lines that rise to the right.
    Rising,
    /// Brown lines that fall to the right.
    Falling,
    /// Green dots.
    Dotted,
    /// Violet lines in both directions.
    Crossed,
}

/// Returns the pattern of a fill, if it has one: name, ink, and the path in a square of six units.
fn pattern(fill: Fill) -> Option<(&'static str, &'static str, &'static str)> {
    const RISING: &str = "M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2";
    const FALLING: &str = "M-1,5 l2,2 M0,0 l6,6 M5,-1 l2,2";
    match fill {
        Fill::Rising => Some(("rising", "#1f4e9c", RISING)),
        Fill::Falling => Some(("falling", "#9a4600", FALLING)),
        Fill::Dotted => Some(("dotted", "#14633a", "M1,1.5 h1.6 M4,4.5 h1.6")),
        Fill::Crossed => Some(("crossed", "#5b2a86", "M0,3 h6 M3,0 v6")),
        Fill::None | Fill::White | Fill::Light | Fill::Grey | Fill::Black => None,
    }
}

fn paint(fill: Fill) -> String {
    match (fill, pattern(fill)) {
        (_, Some((name, _, _))) => format!("url(#{name})"),
        (Fill::White, _) => "#ffffff".to_owned(),
        (Fill::Light, _) => "#ececec".to_owned(),
        (Fill::Grey, _) => "#b4b4b4".to_owned(),
        (Fill::Black, _) => "#000000".to_owned(),
        _ => "none".to_owned(),
    }
}

/// Style of the line around an area, or of a separate line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stroke {
    /// Width; 0 for none.
    pub width: f64,
    /// `true` if the line is dashed.
    pub dashed: bool,
    /// `true` if the line is grey instead of black.
    pub faint: bool,
}

impl Stroke {
    /// Creates a black line.
    pub const fn solid(width: f64) -> Self {
        Self { width, dashed: false, faint: false }
    }

    /// Creates a black dashed line.
    pub const fn dashed(width: f64) -> Self {
        Self { width, dashed: true, faint: false }
    }

    /// Creates a grey line, such as a grid line.
    pub const fn faint(width: f64) -> Self {
        Self { width, dashed: false, faint: true }
    }

    fn attributes(self) -> String {
        if self.width <= 0.0 {
            return "stroke=\"none\"".to_owned();
        }
        let ink = if self.faint { "#9a9a9a" } else { "#000000" };
        let dashes = if self.dashed { " stroke-dasharray=\"5,3\"" } else { "" };
        format!("stroke=\"{ink}\" stroke-width=\"{}\"{dashes}", number(self.width))
    }
}

/// Alignment of text at its anchor point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    #[default]
    Start,
    /// The text is centred at the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// Size, alignment and weight of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Font size.
    pub size: f64,
    /// Alignment of the text at its anchor point.
    pub anchor: Anchor,
    /// `true` if the text is bold.
    pub bold: bool,
}

impl Font {
    /// Returns the style of plain text that begins at its anchor point.
    pub const fn plain(size: f64) -> Self {
        Self { size, anchor: Anchor::Start, bold: false }
    }

    /// The same text style, bold.
    #[must_use]
    pub const fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Sets the alignment of the text.
    #[must_use]
    pub const fn at(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    /// Returns the approximate width of text. The exact width depends on the fonts of the machine that shows the
    /// picture.
    pub fn width(self, text: &str) -> f64 {
        0.56 * self.size * text.chars().count() as f64
    }
}

/// A rectangle with horizontal and vertical edges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A picture under construction; y increases downwards.
#[derive(Clone, Debug)]
pub struct Drawing {
    width: f64,
    title: String,
    body: String,
    fills: BTreeSet<Fill>,
}

fn number(value: f64) -> String {
    // A hundredth of a unit is finer than the resolution of printers at the default size.
    let rounded = (value * 100.0).round() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

impl Drawing {
    /// Creates an empty white picture.
    pub fn new(width: f64, title: &str) -> Self {
        Self { width, title: title.to_owned(), body: String::new(), fills: BTreeSet::new() }
    }

    /// Returns the width of the picture.
    pub const fn width(&self) -> f64 {
        self.width
    }

    fn element(&mut self, element: &str, about: &str) {
        let name = element.split(' ').next().unwrap_or_default();
        let _ = if about.is_empty() {
            writeln!(self.body, "<{element}/>")
        } else {
            // Viewers show the title as a tooltip.
            writeln!(self.body, "<{element}><title>{}</title></{name}>", xml(about))
        };
    }

    /// Draws a rectangle; `about` is the tooltip in viewers.
    pub fn rectangle(&mut self, area: Area, fill: Fill, stroke: Stroke, about: &str) {
        self.fills.insert(fill);
        let Area { x, y, width, height } = area;
        let [x, y, width, height] = [x, y, width, height].map(number);
        let (paint, stroke) = (paint(fill), stroke.attributes());
        let element = format!(
            "rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{paint}\" {stroke}"
        );
        self.element(&element, about);
    }

    /// Draws a circle.
    pub fn circle(&mut self, centre: (f64, f64), radius: f64, fill: Fill, stroke: Stroke, about: &str) {
        self.fills.insert(fill);
        let [x, y, radius] = [centre.0, centre.1, radius].map(number);
        let (paint, stroke) = (paint(fill), stroke.attributes());
        self.element(
            &format!("circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{paint}\" {stroke}"),
            about,
        );
    }

    /// Draws a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let stroke = stroke.attributes();
        self.element(&format!("line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" {stroke}"), "");
    }

    /// Draws text on a baseline.
    pub fn text(&mut self, at: (f64, f64), font: Font, text: &str) {
        let [x, y, size] = [at.0, at.1, font.size].map(number);
        let anchor = match font.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if font.bold { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{weight}>{}</text>",
            xml(text)
        );
    }

    /// Returns the content of the file, for a picture of this height.
    pub fn into_text(self, height: f64) -> String {
        let (width, height) = (number(self.width), number(height));
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\">\n\
             <title>{}</title>\n",
            xml(&self.title)
        );
        let patterns: Vec<_> = self.fills.iter().filter_map(|fill| pattern(*fill)).collect();
        if !patterns.is_empty() {
            text.push_str("<defs>\n");
            for (name, ink, path) in patterns {
                let _ = writeln!(
                    text,
                    "<pattern id=\"{name}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
                     <rect width=\"6\" height=\"6\" fill=\"#ffffff\"/>\
                     <path d=\"{path}\" stroke=\"{ink}\" stroke-width=\"1.6\" fill=\"none\"/></pattern>"
                );
            }
            text.push_str("</defs>\n");
        }
        let _ = writeln!(text, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        text.push_str(&self.body);
        text.push_str("</svg>\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_sound_xml_and_needs_nothing_else() {
        let mut drawing = Drawing::new(200.0, "a & b");
        let area = Area { x: 1.0, y: 2.0, width: 30.126, height: -0.0 };
        drawing.rectangle(area, Fill::Rising, Stroke::solid(1.0), "F1 <s2>");
        drawing.circle((50.0, 50.0), 10.0, Fill::White, Stroke::dashed(2.0), "");
        drawing.line((0.0, 0.0), (200.0, 100.0), Stroke::faint(0.5));
        drawing.text((5.0, 90.0), Font::plain(10.0).bold().at(Anchor::End), "p0 → p1 \u{1b}[31m");
        let text = drawing.into_text(100.0);
        let document = roxmltree::Document::parse(&text).unwrap();
        let named = |name: &str| document.descendants().find(|node| node.has_tag_name(name));
        assert_eq!(document.root_element().attribute("viewBox"), Some("0 0 200 100"));
        assert_eq!(named("title").unwrap().text(), Some("a & b"));
        let filled =
            document.descendants().find(|node| node.attribute("fill") == Some("url(#rising)")).unwrap();
        assert_eq!((filled.attribute("width"), filled.attribute("height")), (Some("30.13"), Some("0")));
        assert_eq!(filled.first_element_child().unwrap().text(), Some("F1 <s2>"));
        assert_eq!(named("pattern").unwrap().attribute("id"), Some("rising"));
        assert_eq!(document.descendants().filter(|node| node.has_tag_name("pattern")).count(), 1);
        assert_eq!(named("text").unwrap().text(), Some("p0 → p1 \\u{1b}[31m"));
        assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("http"), "{text}");
    }
}
