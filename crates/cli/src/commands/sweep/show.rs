//! `wavebound sweep show`: pivot tables and charts of a data set.

use super::output::OutputArgs;
use crate::commands::{CommandResult, Printed, print, print_json, print_line};
use clap::{Args, ValueEnum};
use miette::miette;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::report::pages::{card, close, open, section};
use wavebound::report::{bars_svg, heat_map_svg, lines_svg, scatter_svg};
use wavebound::sweep::DataSet;
use wavebound::sweep::show::{Aggregate, Pivot, Question, pareto, pivot};

#[derive(Args)]
pub struct ShowArgs {
    /// The folder that a sweep wrote
    folder: PathBuf,
    /// Axis of the rows, and x axis of charts [default: the first axis with several values]
    #[arg(long, value_name = "AXIS", default_value = "", hide_default_value = true)]
    rows: String,
    /// Axis of the columns, and series of charts [default: the next axis with several values]
    #[arg(long, value_name = "AXIS", default_value = "", hide_default_value = true)]
    columns: String,
    /// What is shown [default: the first measure]
    #[arg(long, value_name = "COLUMN", default_value = "", hide_default_value = true)]
    value: String,
    /// What is made of several values in one place [default: mean; of speed-ups geomean]
    #[arg(long, value_enum)]
    aggregate: Option<AggregateArg>,
    /// Only points with this value; repeatable
    #[arg(long = "where", value_name = "AXIS=VALUE", value_parser = pair)]
    only: Vec<(String, String)>,
    /// How much less than the point with this value on this axis that is the same otherwise, e.g. mechanism=none
    #[arg(long, value_name = "AXIS=BASE", value_parser = pair)]
    speedup: Option<(String, String)>,
    /// Draw the table
    #[arg(long, value_enum, default_value_t = ChartArg::Lines)]
    chart: ChartArg,
    /// Draw the points of two columns, less is better, and their Pareto front, instead of the table
    #[arg(long, value_name = "X,Y", value_parser = columns)]
    pareto: Option<(String, String)>,
    /// Where to draw (.svg)
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the table and all its charts as one page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum AggregateArg {
    Mean,
    Geomean,
    Min,
    Max,
    Sum,
    Count,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ChartArg {
    /// A line for each column, over the rows
    Lines,
    /// Bars for each row
    Bars,
    /// Rows × columns in colours
    Heat,
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct ShowJson<'a> {
    version: u32,
    name: &'a str,
    digest: &'a str,
    pivot: &'a Pivot,
}

impl Printed for ShowJson<'_> {
    const NAME: &'static str = "sweep-show";
}

fn pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|p| !p.0.is_empty());
    parts.map(|(a, b)| (a.to_owned(), b.to_owned())).ok_or_else(|| "looks like mechanism=none".to_owned())
}

fn columns(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once(',');
    parts.map(|(a, b)| (a.to_owned(), b.to_owned())).ok_or_else(|| "looks like cycles,bound".to_owned())
}

fn draw(chart: ChartArg, pivot: &Pivot) -> miette::Result<String> {
    Ok(match chart {
        ChartArg::Lines => lines_svg(&pivot.chart())?,
        ChartArg::Bars => bars_svg(&pivot.chart())?,
        ChartArg::Heat => heat_map_svg(&pivot.heat_map())?,
    })
}

pub fn main(args: &ShowArgs) -> CommandResult {
    if let Some(path) = args.out.as_ref().filter(|p| p.extension().is_none_or(|e| e != "svg")) {
        return Err(miette!(help = "end its name in .svg", "cannot draw to {}", path.display()));
    }
    let data = DataSet::open(&args.folder)?;
    let aggregate = match args.aggregate {
        Some(AggregateArg::Mean) => Aggregate::Mean,
        Some(AggregateArg::Geomean) => Aggregate::GeometricMean,
        Some(AggregateArg::Min) => Aggregate::Min,
        Some(AggregateArg::Max) => Aggregate::Max,
        Some(AggregateArg::Sum) => Aggregate::Sum,
        Some(AggregateArg::Count) => Aggregate::Count,
        None if args.speedup.is_some() => Aggregate::GeometricMean,
        None => Aggregate::Mean,
    };
    let question = Question {
        rows: args.rows.clone(),
        columns: args.columns.clone(),
        value: args.value.clone(),
        aggregate,
        only: args.only.clone(),
        speedup: args.speedup.clone(),
    };
    let pivot = pivot(&data, &question)?;
    let front = args.pareto.as_ref().map(|(x, y)| pareto(&data, x, y, &args.only)).transpose()?;
    if args.output.json() {
        let (name, digest) = (data.about.name.as_str(), data.about.digest.as_str());
        print_json(&ShowJson { version: 1, name, digest, pivot: &pivot })?;
    } else {
        print(&pivot.text());
        for point in front.iter().flat_map(|f| &f.points).filter(|p| p.front) {
            print_line(&format!("front: {} {}  {}", point.x, point.y, point.name));
        }
    }
    if let Some(path) = &args.out {
        let text = match &front {
            Some(front) => scatter_svg(front)?,
            None => draw(args.chart, &pivot)?,
        };
        wavebound::files::write(path, text)?;
    }
    if let Some(path) = &args.html {
        let mut page = open(&format!("Sweep {}", data.about.name), "svg { max-width: 100%; height: auto; }");
        page.push_str("<div class=\"cards\">");
        let failed = data.about.rows - data.about.statuses.get("ok").copied().unwrap_or(0);
        card(
            &mut page,
            "points",
            &data.about.rows.to_string(),
            "",
            &format!("{} missing", data.about.missing),
        );
        card(&mut page, "not well", &failed.to_string(), if failed > 0 { "warn" } else { "good" }, "");
        card(&mut page, "digest", &data.about.digest, "", &data.about.simulator);
        page.push_str("</div>\n");
        section(&mut page, &pivot.value, true, &pivot.html());
        section(&mut page, "Lines", true, &draw(ChartArg::Lines, &pivot)?);
        section(&mut page, "Heat map", true, &draw(ChartArg::Heat, &pivot)?);
        section(&mut page, "Bars", args.speedup.is_some(), &draw(ChartArg::Bars, &pivot)?);
        if let Some(front) = &front {
            section(&mut page, "Pareto front", true, &scatter_svg(front)?);
        }
        close(&mut page);
        wavebound::files::write(path, page)?;
    }
    Ok(ExitCode::SUCCESS)
}
