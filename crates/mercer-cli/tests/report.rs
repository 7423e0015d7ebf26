//! `--report`: the same numbers as `--json`, nothing from outside, nothing unescaped, and refusals before the work.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::{Folder, Numbers, Table};

/// Elements that HTML does not close.
const VOID: [&str; 1] = ["meta"];

/// One page, all elements closed in their order, no address but its own places, and numbers under every chart.
fn assert_page(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html>\n") && html.ends_with("</html>\n"), "{html}");
    let (before, script) = html.split_once("<script>").unwrap();
    let (_, after) = script.split_once("</script>").unwrap();
    let (head, style) = before.split_once("<style>").unwrap();
    let (_, body) = style.split_once("</style>").unwrap();
    let mut open: Vec<&str> = Vec::new();
    for part in [head, body, after].concat().split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("<{part} has no end"));
        assert!(!text.contains('>'), "{part}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split_whitespace().next().unwrap();
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().map(str::to_owned).as_deref(), Some(name)),
            None if tag.ends_with('/') || name.starts_with('!') || VOID.contains(&name) => {}
            None => open.push(Box::leak(name.to_owned().into_boxed_str())),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for part in [head, body].concat().split('&').skip(1) {
        assert!(["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| part.starts_with(name)), "&{part}");
    }
    for outside in ["http://", "https://", "src=\"", "url(", "@import", "NaN", "inf\""] {
        assert!(![head, body, after].concat().contains(outside) && !style.contains("http"), "{outside}");
    }
    for link in body.split("href=\"").skip(1) {
        assert!(link.starts_with("#part-"), "{link}");
    }
    for figure in html.split("<figure").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.contains("<svg ") && figure.contains("<details>") && figure.contains("<td"), "{figure}");
        assert!(figure.contains("aria-label=\"") && figure.contains("<text "), "{figure}");
    }
}

fn percent(value: &Value) -> String {
    format!("{:.2} %", 100.0 * value.as_f64().unwrap())
}

/// The large number of a tile, and what is below it.
fn tile<'a>(html: &'a str, name: &str) -> (&'a str, &'a str) {
    let start = format!("<h3>{name}</h3><strong>");
    let (_, rest) = html.split_once(&start).unwrap_or_else(|| panic!("no tile {name}"));
    let (value, rest) = rest.split_once("</strong><p>").unwrap();
    (value, rest.split("</p>").next().unwrap())
}

#[test]
fn classes_as_in_json() {
    let folder = Folder::new();
    let flags = "train --sample digits --learner softmax --n-components 256 --report digits.html";
    let report = folder.json(flags);
    assert_eq!(report["report"], "digits.html");
    let (html, test) = (folder.text("digits.html"), &report["test"]);
    assert_page(&html);
    let (accuracy, interval) = tile(&html, "Accuracy");
    assert_eq!(accuracy, percent(&test["accuracy"]));
    // Wilson's interval by its definition: at its ends π, |k/n − π| = z·√(π(1 − π)/n).
    let ends: Vec<f64> = interval.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let (share, n) = (test["accuracy"].as_f64().unwrap(), test["n_rows"].as_f64().unwrap());
    for end in &ends {
        let (end, z) = (end / 100.0, 1.959_964);
        // Shown with two digits: half of the last, times the slope of both sides.
        assert!(((share - end).abs() - z * (end * (1.0 - end) / n).sqrt()).abs() < 1.5e-4, "{interval}");
    }
    assert_eq!(ends.len(), 2, "{interval}");
    assert_eq!(tile(&html, "Macro F1").0, format!("{:.4}", test["f1_macro"].as_f64().unwrap()));
    assert!(tile(&html, "Macro F1").1.starts_with("0."), "{}", tile(&html, "Macro F1").1);
    assert_eq!(tile(&html, "Calibration error").0, percent(&test["calibration_error"]));
    let right = test["confusion"][3][3].as_u64().unwrap();
    assert!(html.contains(&format!("<title>3 taken for 3: {right} rows")), "{right}");
    for title in ["Every class", "Probabilities", "The choice of lambda", "Time and memory", "To do it again"] {
        assert!(html.contains(&format!("<h2>{title}</h2>")), "{title}");
    }
    let bins = test["bins"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| bin["n_rows"].as_u64().unwrap()).sum::<u64>(), 359);
    assert!(html.contains(&format!("<code>mercer {flags} --json</code>")));
    let spec = html.split("<code>{").nth(1).unwrap().split("</code>").next().unwrap().replace("&quot;", "\"");
    assert_eq!(serde_json::from_str::<Value>(&format!("{{{spec}")).unwrap(), report["spec"]);
}

#[test]
fn names_are_never_markup() {
    let folder = Folder::new();
    // The first is <b>&" as CSV has it.
    let names = ["\"<b>&\"\"\"", "</script>", "it's"];
    folder.write("<i>&.csv", Table::new(120, 4, 3).csv("<target>", &names));
    folder.ok("train <i>&.csv --test-size 0.3 --n-components 32 --cv 3 --report out.html");
    let html = folder.text("out.html");
    assert_page(&html);
    assert!(!html.contains("<b>") && !html.contains("<i>") && !html.contains("<target>"));
    assert_eq!(html.matches("</script>").count(), 1);
    assert!(html.contains("&lt;b&gt;&amp;&quot; taken for") && html.contains("&lt;i&gt;&amp;.csv"));
    assert!(html.contains("each in one of 3 folds") && html.contains("<th scope=\"col\" class=\"n\">fold</th>"));
    assert!(html.contains("mercer train &#39;&lt;i&gt;&amp;.csv&#39; --test-size 0.3"), "the command, quoted");
}

fn regression_rows(n: usize) -> String {
    let mut numbers = Numbers(3);
    let mut uniform = || numbers.below(1_000_000) as f64 / 1e6;
    let rows = (0..n).map(|_| {
        let (a, b, noise) = (uniform(), uniform(), uniform());
        format!("{a},{b},{},{}\n", (6.0 * a).sin() + b * b + 0.1 * noise, a - b)
    });
    format!("a,b,y,z\n{}", rows.collect::<String>())
}

#[test]
fn values_as_points_and_as_blocks() {
    let folder = Folder::new();
    folder.write("few.csv", regression_rows(300));
    folder.write("many.csv", regression_rows(6000));
    for (file, drawn) in [("few.csv", "class=\"mark\""), ("many.csv", "class=\"right\"")] {
        let flags = format!("train {file} --target y --inputs a,b --test-size 0.25 --n-components 64");
        let report = folder.json(&format!("{flags} --report out.html"));
        let (html, test) = (folder.text("out.html"), &report["test"]);
        assert_page(&html);
        let r2 = test["r2"].as_f64().unwrap();
        let (value, interval) = tile(&html, "R²");
        assert_eq!(value, format!("{r2:.4}"));
        let ends: Vec<f64> = interval.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(ends[0] < r2 && r2 < ends[1] && ends[1] <= 1.0, "{interval}");
        let figure = html.split("<h3>Prediction against truth</h3>").nth(1).unwrap().split("</figure>").next().unwrap();
        assert!(figure.contains(drawn), "{file}: {figure}");
        assert!(html.contains("<h3>Residuals</h3>") && html.contains("y, in its units"));
    }
    folder.ok("train few.csv --target y,z --test-size 0.25 --n-components 64 --report two.html");
    let html = folder.text("two.html");
    assert_page(&html);
    assert!(html.contains("Predictions of y") && html.contains("Predictions of z") && html.contains("Every target"));
    folder.ok("train few.csv --target y --n-components 64 --report none.html");
    assert_page(&folder.text("none.html"));
    assert!(folder.text("none.html").contains("No test rows"));
}

#[test]
fn comparisons_and_budgets() {
    let folder = Folder::new();
    let flags = "compare --sample digits --maps sorf,fourier --n-components 64..128 --seeds 2";
    let report = folder.json(&format!("{flags} --plot maps.svg --report maps.html"));
    let html = folder.text("maps.html");
    assert_page(&html);
    for result in report["results"].as_array().unwrap() {
        let rmse = format!(
            "{:.5} ± {:.5}",
            result["kernel_rmse"].as_f64().unwrap(),
            result["kernel_rmse_deviation"].as_f64().unwrap()
        );
        assert!(html.contains(&rmse) && html.contains(&percent(&result["accuracy"])), "{rmse}");
    }
    assert_eq!(html.matches("<figure>").count(), 5);
    assert_eq!(html.matches("<polyline ").count(), 10);
    assert!(folder.text("maps.svg").contains(">sorf</text>"));
    let alone = folder.ok("compare --sample digits --no-learner --maps sorf --n-components 64 --report alone.html");
    assert!(alone.ends_with("\nreport      alone.html\n"), "{alone}");
    assert_eq!(folder.text("alone.html").matches("<figure>").count(), 3);

    let report = folder.json("budget --sample digits --sizes 10,20 --methods uniform,kmeans --report budget.html");
    let html = folder.text("budget.html");
    assert_page(&html);
    for budget in report["budgets"].as_array().unwrap() {
        assert!(html.contains(&format!(">{:.4}</td>", budget["score"].as_f64().unwrap())), "{budget}");
    }
    assert_eq!(html.matches("<figure>").count(), 4);
}

#[test]
fn refused_before_the_work() {
    let folder = Folder::new();
    folder.write("a.csv", Table::new(40, 4, 2).csv("class", &["a", "b"]));
    folder.write("a.html", "a,class\n1,b\n");
    std::fs::create_dir(folder.file("folder.html")).unwrap();
    let before = folder.names();
    for (arguments, says) in [
        ("train a.csv --report a.txt", "the report is HTML; give it a name that ends with .html"),
        ("train a.html --report a.html", "a.html is read by this command"),
        ("train a.csv -o out.html --report out.html", "are the same file"),
        ("train a.csv --report folder.html", "folder.html"),
        ("train none.csv --report new.html", "none.csv"),
        ("compare a.html --report a.html", "a.html is read by this command"),
        ("compare a.csv --plot a.html", "the plot is SVG"),
        ("budget a.html --report a.html", "a.html is read by this command"),
        ("budget a.csv --report a.svg", "the report is HTML"),
    ] {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""), "mercer {arguments}: {run:?}");
        assert!(run.stderr.contains(says), "mercer {arguments} should say {says:?}: {}", run.stderr);
        assert_eq!(folder.names(), before, "mercer {arguments}");
    }
    let run = folder.run("train a.csv --n-components 16 --report nowhere/a.html");
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{run:?}");
}
