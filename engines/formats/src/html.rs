//! Self-contained web pages: no scripts, and nothing is loaded from other places.

use crate::graph::xml;
use pulldown_cmark::{Event, Options, Parser, html};

/// Style of a page, on a screen and on paper.
const STYLE: &str = "\
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin: 1.6em 0 0.5em; }
table { border-collapse: collapse; margin: 0.8em 0; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ccc; padding: 0.2em 0.8em; vertical-align: top; }
th { text-align: left; border-bottom-color: #555; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.93em; }
img { max-width: 100%; height: auto; }
@media print { body { max-width: none; margin: 0; } tr, img { break-inside: avoid; } }
";

/// Converts a document in Markdown to a page. HTML markup in the document is shown as text.
pub fn page(title: &str, markdown: &str) -> String {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut body = String::with_capacity(2 * markdown.len());
    html::push_html(&mut body, events);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        xml(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{Document, text};

    #[test]
    fn reports_become_pages_with_their_pictures_inside() {
        let mut document = Document::new();
        document.heading(1, &text("a <b> plan"));
        document.embedded_picture("ports", "image/svg+xml", b"<svg/>");
        document.table(&["pod", ">ports"], &[vec![text("p|0 <script>"), "4".to_owned()]]);
        let page = page("a <b> plan", &document.into_text());
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>a &lt;b&gt; plan</title>"));
        assert!(page.contains("<h1>a &lt;b&gt; plan</h1>"), "{page}");
        assert!(page.contains("<img src=\"data:image/svg+xml;base64,PHN2Zy8+\" alt=\"ports\" />"), "{page}");
        assert!(page.contains("<td>p|0 &lt;script&gt;</td><td style=\"text-align: right\">4</td>"), "{page}");
    }

    #[test]
    fn markup_in_a_document_is_text() {
        let page = page("x", "a <script>alert(1)</script>\n\n<iframe src=\"http://a\"></iframe>\n");
        assert!(!page.contains("<script>") && !page.contains("<iframe"), "{page}");
        assert!(page.contains("&lt;script&gt;"), "{page}");
    }
}
