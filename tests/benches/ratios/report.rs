//! The tables, and the promises that they are held to.

use std::path::Path;
use std::process::ExitCode;

/// What was measured so far.
#[derive(Default)]
pub struct Report {
    text: String,
    gates: Vec<Gate>,
}

struct Gate {
    promise: String,
    figure: String,
    kept: bool,
}

impl Report {
    /// Adds a table; the first row is its head.
    pub fn table(&mut self, title: &str, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut table = format!("\n## {title}\n\n");
        for (at, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            table += &line(cells.collect());
            if at == 0 {
                table += &line(widths.iter().map(|width| "-".repeat(*width)).collect());
            }
        }
        print!("{table}");
        self.text += &table;
    }

    /// Adds a line of text.
    pub fn note(&mut self, text: &str) {
        println!("\n{text}");
        self.text += "\n";
        self.text += text;
        self.text += "\n";
    }

    /// Holds a figure to what was promised: at most so much.
    pub fn at_most(&mut self, promise: &str, figure: f64, bound: f64, unit: &str) {
        self.gate(promise, figure, &format!("at most {bound}"), unit, figure <= bound);
    }

    /// The same: at least so much.
    pub fn at_least(&mut self, promise: &str, figure: f64, bound: f64, unit: &str) {
        self.gate(promise, figure, &format!("at least {bound}"), unit, figure >= bound);
    }

    fn gate(&mut self, promise: &str, figure: f64, bound: &str, unit: &str, kept: bool) {
        let figure = format!("{figure:.2}{unit} ({bound}{unit})");
        self.gates.push(Gate { promise: promise.to_owned(), figure, kept });
    }

    /// Adds the promises, writes the file, and says whether all were kept.
    pub fn finish(mut self) -> ExitCode {
        let gates = std::mem::take(&mut self.gates);
        let mut rows = vec![vec!["promise".to_owned(), "measured".to_owned(), "kept".to_owned()]];
        rows.extend(gates.iter().map(|gate| {
            let kept = if gate.kept { "yes" } else { "NO" };
            vec![gate.promise.clone(), gate.figure.clone(), kept.to_owned()]
        }));
        self.table("Promises", &rows);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-report.md");
        let text = format!("# What the component costs\n{}", self.text);
        match std::fs::write(&path, text) {
            Ok(()) => println!("\nwritten to {}", path.display()),
            Err(error) => eprintln!("\n{} was not written: {error}", path.display()),
        }
        let broken: Vec<&Gate> = gates.iter().filter(|gate| !gate.kept).collect();
        for gate in &broken {
            eprintln!("promise not kept: {}: {}", gate.promise, gate.figure);
        }
        if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// A time in µs, or ms where it is long.
pub fn time(micros: f64) -> String {
    match micros {
        _ if micros < 100.0 => format!("{micros:.1} µs"),
        _ if micros < 10_000.0 => format!("{micros:.0} µs"),
        _ => format!("{:.1} ms", micros / 1_000.0),
    }
}

/// A ratio.
pub fn times(ratio: f64) -> String {
    format!("{ratio:.2}×")
}

/// A row of a table.
pub fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}
