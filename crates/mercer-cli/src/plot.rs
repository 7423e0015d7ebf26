//! Panels with the same series, two side by side, as one SVG file, for `--plot`.

use std::fmt::Write;

use crate::report::{Panel, escaped, legend, shortened};

/// The width of the file, and where the panels stand in it.
const WIDTH: f64 = 1000.0;
const PANELS: [f64; 2] = [10.0, 510.0];
const EDGE: f64 = 24.0;

/// Panels, each under its title.
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) panels: Vec<(String, Panel)>,
}

impl Plot {
    /// The whole file.
    pub(crate) fn to_svg(&self) -> String {
        let mut body = String::new();
        let names = self.panels[0].1.names();
        let mut height = 64.0 + legend(&mut body, &names, (EDGE, 64.0), WIDTH - EDGE);
        for pair in self.panels.chunks(PANELS.len()) {
            let top = height + 16.0;
            for ((title, panel), x) in pair.iter().zip(PANELS) {
                let _ = writeln!(body, "<g transform=\"translate({x} {top:.1})\">");
                let _ = writeln!(
                    body,
                    "<text x=\"14\" y=\"12\" font-size=\"13\" font-weight=\"600\">{}</text>",
                    escaped(title)
                );
                height = height.max(top + panel.draw(&mut body, 28.0));
                body.push_str("</g>\n");
            }
        }
        let [title, subtitle] =
            [shortened(&self.title, 100), shortened(&self.subtitle, 150)].map(|words| escaped(&words));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" font-family=\"system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\" \
             font-size=\"12\" fill=\"#222222\">\n<rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"#FFFFFF\"/>\n\
             <text x=\"{EDGE}\" y=\"30\" font-size=\"17\" font-weight=\"600\">{title}</text>\n\
             <text x=\"{EDGE}\" y=\"50\" fill=\"#5F6670\">{subtitle}</text>\n{body}</svg>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_cut_and_escaped() {
        let panels = (0..3).map(|_| ("<t>".to_owned(), Panel::default())).collect();
        let svg = Plot { title: "&".repeat(200), subtitle: String::new(), panels }.to_svg();
        assert_eq!((svg.matches("&amp;").count(), svg.matches("&lt;t&gt;").count()), (99, 3));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
