//! `collie list`: the catalogue, for people, as JSON, and as the Markdown page in docs/.

use super::file::{cannot_write, write_file};
use super::table::columns;
use super::{Done, Failure};
use crate::algorithm::{Algorithm, Operation, Parameter, RankNeed, accepted, of, parse_choice};
use crate::schedule::draw::draw;
use crate::schedule::simulate::{Memory, Network};
use crate::selection::operation_named;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// List the algorithms: names, parameters, needs, rank order, cost, source
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie list                 one line per algorithm\n  \
                        collie list allreduce       everything about those of one operation\n  \
                        collie list --json          the same for programs")]
pub struct Arguments {
    #[arg(help = format!("{}; all if not given", Operation::accepted()))]
    operation: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print the page docs/algorithms.md
    #[arg(long)]
    markdown: bool,
    /// Write the pictures of that page into a folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["json", "markdown"])]
    pictures: Option<PathBuf>,
}

/// Prints the catalogue, or the part of it that is asked for.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let operation = arguments.operation.as_deref().map(operation_named).transpose().map_err(Failure::usage)?;
    let operations = operation.map_or(Operation::ALL.to_vec(), |operation| vec![operation]);
    if let Some(folder) = &arguments.pictures {
        return write_pictures(folder, &operations);
    }
    let text = match (arguments.json, arguments.markdown, operation) {
        (true, ..) => json_text(&operations),
        (_, true, _) => markdown(&operations),
        (_, _, Some(operation)) => in_full(operation),
        (_, _, None) => overview(),
    };
    Ok(Done::from(text))
}

/// File and drawing of each picture.
fn write_pictures(folder: &Path, operations: &[Operation]) -> Result<Done, Failure> {
    let network = Network::preset("shared_memory").expect("it is a preset");
    // For what looks at NUMA nodes.
    let memory = Memory { ranks_per_numa_node: Some(4), ..network.memory };
    let network = Network { memory, ..network };
    std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let pictures = operations.iter().flat_map(|operation| operation.row().pictures.iter().map(|of| (*operation, *of)));
    for (operation, (text, ranks)) in pictures {
        let cannot = |why: String| Failure::cannot(format!("{operation} {text}: {why}"));
        let choice = parse_choice(operation, text).map_err(|error| cannot(error.to_string()))?;
        let bytes = if operation.has_data() { 64 << 10 } else { 0 };
        let numa = network.numa_nodes(ranks);
        let call = network.in_memory_of(&choice, network.call(operation, 0, bytes, &[]), &numa);
        let drawing = draw(&choice, &call, ranks, &network);
        let drawing = drawing.map_err(|broken| cannot(broken.to_string()))?;
        let drawing = drawing.ok_or_else(|| cannot("too many steps".to_owned()))?;
        let path = folder.join(picture(operation, text));
        write_file(&path, drawing)?;
    }
    Ok(Done::from(String::new()))
}

/// Name of a picture's file.
fn picture(operation: Operation, choice: &str) -> String {
    format!("{operation}_{}.svg", choice.split(':').next().unwrap_or(choice))
}

fn overview() -> String {
    let mut text = String::new();
    for operation in Operation::ALL.into_iter().filter(|operation| !of(*operation).is_empty()) {
        let rows: Vec<_> = of(operation).iter().map(|row| vec![row.name.to_owned(), row.summary.to_owned()]).collect();
        let _ = writeln!(text, "{operation}\n{}", columns(2, &rows));
    }
    text.push_str("`collie list OPERATION` describes the algorithms of one operation in full.\n");
    text
}

fn in_full(operation: Operation) -> String {
    if of(operation).is_empty() {
        return format!("no {operation} algorithm is available in this version\n");
    }
    let mut text = String::new();
    for row in of(operation) {
        let _ = writeln!(text, "{}\n  {}", row.name, row.summary);
        let mut facts = vec![
            vec!["cost".to_owned(), row.formula.to_owned()],
            vec!["needs".to_owned(), row.needs.to_string()],
            vec!["rank order".to_owned(), order(row).to_owned()],
            vec!["source".to_owned(), row.source.to_owned()],
        ];
        for (place, parameter) in row.parameters.iter().enumerate() {
            let first = if place == 0 { "parameters" } else { "" };
            facts.push(vec![first.to_owned(), written(parameter), parameter.help.to_owned()]);
            facts.push(vec![String::new(), String::new(), format!("accepted: {}", accepted(parameter.kind))]);
        }
        let (facts, parameters) = facts.split_at(4);
        text.push_str(&columns(2, facts));
        text.push_str(&columns(2, parameters));
        text.push('\n');
    }
    text.push_str("p ranks, q = ⌈log2 p⌉, n bytes of the message, b bytes per rank, s segment bytes, S segments,\n");
    text.push_str("α start-up per message, β seconds per byte sent, γ seconds per byte reduced\n");
    text
}

fn order(row: &Algorithm) -> &'static str {
    match (row.operation.reduces(), row.ordered) {
        (false, _) => "nothing is reduced",
        (true, true) => "kept: usable for non-commutative operations",
        (true, false) => "not kept: for commutative operations only",
    }
}

fn written(parameter: &Parameter) -> String {
    format!("{}={}", parameter.name, parameter.default_text())
}

fn json_text(operations: &[Operation]) -> String {
    let rows: Vec<_> = operations.iter().flat_map(|operation| of(*operation)).map(|row| json_row(row)).collect();
    format!("{:#}\n", Value::Array(rows))
}

fn json_row(row: &Algorithm) -> Value {
    let parameter = |parameter: &Parameter| {
        json!({
            "name": parameter.name,
            "accepted": accepted(parameter.kind),
            "default": parameter.default_text(),
            "help": parameter.help,
        })
    };
    let ranks = match row.needs.ranks {
        RankNeed::Any => json!("any"),
        RankNeed::PowerOfTwo => json!("power of two"),
        RankNeed::Even => json!("even"),
        RankNeed::Exactly(ranks) => json!(ranks),
    };
    json!({
        "operation": row.operation,
        "name": row.name,
        "summary": row.summary,
        "parameters": row.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "needs": {
            "ranks": ranks,
            "shared_memory": row.needs.shared_memory,
            "lengths_of_others": row.needs.lengths.is_some(),
        },
        "ordered": row.ordered,
        "cost": row.formula,
        "source": row.source,
    })
}

/// The page docs/algorithms.md, which a test compares with this.
pub fn markdown(operations: &[Operation]) -> String {
    let mut text = String::from(
        "# The algorithms\n\n\
         Printed by `collie list --markdown`; do not edit by hand.\n\n\
         Notation: p ranks, q = ⌈log2 p⌉, n bytes of the message, b bytes per rank, s segment bytes, S segments,\n\
         α start-up per message, β seconds per byte sent, γ seconds per byte reduced. Parameters are written `name:parameter=value,...`, shown\n\
         with their defaults and, in parentheses, the letters that stand for them in formulas (where a rank has fewer than k or k−1 partners,\n\
         their number counts; in p≠2^k any exponent is k). \"Ordered\" algorithms keep rank order, which non-commutative operations need.\n\
         What follows a semicolon holds instead under the condition before its colon.\n\n\
         The result of an ordered tree of reduce is complete at one rank whatever the root, mostly at rank 0. Where the operation is not\n\
         commutative and the root is another rank, such an algorithm costs α+nβ more, to pass the result on.\n\n\
         Formulas charge every fold in series with the messages, although most folds overlap with the next receive: with the preset\n\
         `shared_memory`, a reduce of 16 MiB among 16 ranks takes 62.9 ms by the formula of `linear` and 33.6 ms in simulation; `binary` 8.72\n\
         and 4.46 ms, `double_tree` 4.58 and 2.34 ms. Copies inside a rank, by which some algorithms rotate or pack blocks, are not\n\
         printed, but all times that Collie computes by formulas count them: an allgather of 64 KiB per rank among 13 ranks takes 101 µs by\n\
         the printed formulas of `bruck`, `circulant`, `bine` and `sparbit`, 186, 245, 245 and 245 µs with their copies, and 194, 240, 253 and\n\
         253 µs in simulation; an alltoall of 64 KiB per pair of ranks among 16 ranks 265, 841 and 843 µs by `bruck`.\n\n\
         For memory shared by all ranks (`COLLIE_TRANSPORT=shared`; on one node, or inside the nodes of `hierarchical`): t_W is the time\n\
         until a rank sees that a flag is raised, t seconds per byte copied to or from the memory, t_A an arrival at a counter, f bytes of\n\
         a fragment, w bytes of a bank: half of a rank's window, which longer messages fill several times, N in all.\n",
    );
    for operation in operations.iter().filter(|operation| !of(**operation).is_empty()) {
        let _ = writeln!(text, "\n## {operation}\n");
        let ordered = if operation.reduces() { ("| ordered ", "| --- ") } else { ("", "") };
        let _ = writeln!(text, "| name | what it does | parameters | needs {}| cost | source |", ordered.0);
        let _ = writeln!(text, "| --- | --- | --- | --- {}| --- | --- |", ordered.1);
        for row in of(*operation) {
            let with_symbol = |one: &Parameter| match one.symbol() {
                Some(symbol) => format!("`{}` ({symbol})", written(one)),
                None => format!("`{}`", written(one)),
            };
            let parameters: Vec<_> = row.parameters.iter().map(with_symbol).collect();
            let ordered = match (operation.reduces(), row.ordered) {
                (false, _) => "",
                (true, true) => "| yes ",
                (true, false) => "| no ",
            };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} {ordered}| {} | {} |",
                row.name,
                row.summary,
                parameters.join(", "),
                row.needs,
                row.formula,
                row.source
            );
        }
        text.push('\n');
        for (choice, ranks) in operation.row().pictures {
            let _ = writeln!(text, "![{operation} {choice}, {ranks} ranks](pictures/{})", picture(*operation, choice));
        }
    }
    text
}
