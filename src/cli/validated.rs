//! `collie tune --validate`: how much longer calls would take by what was decided than by the best that was measured.

use super::table::columns;
use crate::algorithm::ChoiceError;
use crate::bench::regrets;
use crate::bench::result::Report;
use crate::bench::tune::{LeftOut, Model, Settings, validate};
use crate::schedule::simulate::Network;

/// The table, a row for each model and what is left out; and the same as a drawing.
///
/// # Errors
/// An algorithm in a report that this catalogue does not have.
pub fn text(
    reports: &[Report],
    network: Option<&Network>,
    settings: Settings,
) -> Result<(String, String), ChoiceError> {
    let heading = ["left out", "model", "cells", "mean", "90 %", "most", "not measured"];
    let mut table = vec![heading.map(str::to_owned).to_vec()];
    let mut regrets = Vec::new();
    for left_out in LeftOut::ALL {
        for model in Model::ALL {
            // What rests on no measurement is the same whatever is left out.
            if !model.is_made_of_measurements() && left_out != LeftOut::Nothing {
                continue;
            }
            let Some(regret) = validate(reports, left_out, model, network, settings)? else { continue };
            regrets.push((left_out, model, regret));
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            table.push(vec![
                left_out.name().to_owned(),
                model.name().to_owned(),
                regret.cells.to_string(),
                percent(regret.mean),
                percent(regret.p90),
                percent(regret.most),
                regret.unknown.to_string(),
            ]);
        }
    }
    let best = if settings.native { "of native and Collie's algorithms" } else { "of Collie's algorithms" };
    let heading = format!("time of the chosen algorithm over that of the fastest measured {best}, less 1, over cells");
    let drawing = regrets::svg(&format!("{heading}: mean and 90th percentile"), &regrets);
    Ok((format!("{heading}:\n{}", columns(2, &table)), drawing))
}
