//! Reads a plan. Every complaint names the place and says what would be right.

use super::axis::Axis;
use super::range::{self, Number};
use super::{Block, Column, Exclusion, Plan, Sample, Steps};
use crate::error::{PlanError, SweepError};
use crate::measure::{Measure, MeasureOptions};
use crate::value::Value;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wb_isa::SourceFile;
use wb_isa::diag::nearest;

/// More points than this need a sample.
const MOST: u128 = 1 << 40;

type Table<'a> = DeTable<'a>;
type Item<'a> = Spanned<DeValue<'a>>;
type Out<T> = Result<T, PlanError>;

const KEYS: [&str; 12] = [
    "name",
    "measure",
    "axes",
    "variables",
    "zip",
    "exclude",
    "sample",
    "block",
    "bound",
    "worst",
    "partition",
    "files",
];
const BLOCK_KEYS: [&str; 5] = ["axes", "variables", "zip", "exclude", "sample"];

/// An axis as it is written.
#[derive(Clone)]
struct Written {
    column: usize,
    values: Vec<Value>,
    span: Range<usize>,
}

/// The tables of a product as they are written.
#[derive(Clone, Default)]
struct Product<'a> {
    axes: Vec<Written>,
    zips: Vec<(Vec<String>, Range<usize>)>,
    exclude: Vec<(&'a Table<'a>, Range<usize>)>,
    sample: Option<Sample>,
}

struct Reader {
    file: SourceFile,
    columns: Vec<Column>,
}

impl Plan {
    pub fn open(path: &Path) -> Result<Plan, SweepError> {
        let text = wb_files::read_text(path, wb_files::Kind::Description)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Plan::parse(&path.display().to_string(), &text, &folder)?)
    }

    /// A plan that is in memory; `name` stands for its file in messages.
    pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Plan, PlanError> {
        plan(SourceFile::new(name, text), folder)
    }
}

fn plan(file: SourceFile, folder: &Path) -> Out<Plan> {
    let text = file.text.clone();
    let doc = DeTable::parse(&text)
        .map_err(|e| PlanError::new(&file, e.span().unwrap_or(0..0), e.message().trim_end()))?;
    let top = doc.get_ref();
    let stem = Path::new(&file.name).file_stem().map_or("sweep".into(), |s| s.to_string_lossy().into_owned());
    let mut reader = Reader { file, columns: Vec::new() };
    reader.known(top, &[&KEYS[..], &["invalid"]].concat(), "a plan")?;
    let shared = reader.product(top)?;
    let mut products = Vec::new();
    if let Some(blocks) = top.get("block") {
        for item in reader.array(blocks, "block")? {
            let table = reader.table(item, "a block")?;
            reader.known(table, &BLOCK_KEYS, "a block")?;
            let own = reader.product(table)?;
            products.push(overlay(&shared, own));
        }
    } else {
        products.push(shared);
    }
    let end = reader.file.text.len();
    let measures = reader.measures(top)?;
    let name = top.get("name").map(|n| reader.text(n)).transpose()?.unwrap_or(stem);
    let skip_invalid = match top.get("invalid") {
        None => false,
        Some(item) => match reader.text(item)?.as_str() {
            "error" => false,
            "skip" => true,
            _ => return Err(reader.error(item, "`invalid` is \"error\" or \"skip\"")),
        },
    };
    let mut blocks = Vec::new();
    for product in &products {
        if product.axes.is_empty() {
            return Err(PlanError::new(&reader.file, end..end, "the plan has no axes")
                .hint("[axes]\nworkload = [\"bfs\", \"nw\"]"));
        }
        blocks.push(reader.block(product)?);
    }
    let partition = match top.get("partition") {
        None => None,
        Some(item) => {
            let names = reader.texts(item)?;
            for name in &names {
                reader.column_of(name, item)?;
            }
            Some(names)
        }
    };
    let files = top.get("files").map(|f| reader.texts(f)).transpose()?.unwrap_or_default();
    let Reader { file, columns } = reader;
    let plan = Plan {
        name,
        file,
        folder: folder.to_owned(),
        measures,
        skip_invalid,
        partition,
        files,
        columns,
        blocks,
    };
    if plan.places().next().is_none() {
        let all = plan.error(0..0, "the plan has no points: everything is excluded");
        return Err(all.hint("take conditions out of [[exclude]]"));
    }
    Ok(plan)
}

/// A block's axes in the place of the plan's, and behind them.
fn overlay<'a>(shared: &Product<'a>, own: Product<'a>) -> Product<'a> {
    let mut out = shared.clone();
    for axis in own.axes {
        match out.axes.iter_mut().find(|a| a.column == axis.column) {
            Some(old) => *old = axis,
            None => out.axes.push(axis),
        }
    }
    out.zips.extend(own.zips);
    out.exclude.extend(own.exclude);
    out.sample = own.sample.or(out.sample);
    out
}

impl Reader {
    fn at(&self, span: Range<usize>, message: impl Into<String>) -> PlanError {
        PlanError::new(&self.file, span, message)
    }

    fn error(&self, item: &Item, message: impl Into<String>) -> PlanError {
        self.at(item.span(), message)
    }

    /// No other keys than these.
    fn known(&self, table: &Table, keys: &[&str], what: &str) -> Out<()> {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let error = self.at(key.span(), format!("{what} has no `{name}`"));
                let list = format!("it has: {}", keys.join(", "));
                return Err(match nearest(name, keys.iter().copied()) {
                    Some(near) => error.hint(format!("did you mean `{near}`? {list}")),
                    None => error.hint(list),
                });
            }
        }
        Ok(())
    }

    fn table<'a>(&self, item: &'a Item<'a>, what: &str) -> Out<&'a Table<'a>> {
        match item.get_ref() {
            DeValue::Table(table) => Ok(table),
            other => Err(self.error(item, format!("{what} is a table, not {}", article(other)))),
        }
    }

    fn array<'a>(&self, item: &'a Item<'a>, what: &str) -> Out<&'a [Item<'a>]> {
        match item.get_ref() {
            DeValue::Array(array) => Ok(array),
            other => Err(self.error(item, format!("`{what}` is a list, not {}", article(other)))),
        }
    }

    fn text(&self, item: &Item) -> Out<String> {
        match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.error(item, format!("expected a text, found {}", article(other)))),
        }
    }

    /// A text, or a list of texts.
    fn texts(&self, item: &Item) -> Out<Vec<String>> {
        match item.get_ref() {
            DeValue::Array(array) => array.iter().map(|i| self.text(i)).collect(),
            _ => Ok(vec![self.text(item)?]),
        }
    }

    fn number(&self, item: &Item) -> Out<Number> {
        match self.scalar(item)? {
            Value::Int(n) => Ok(Number::Int(n)),
            Value::Float(x) => Ok(Number::Float(x)),
            Value::Bool(_) | Value::Text(_) | Value::List(_) => Err(self.error(item, "expected a number")),
        }
    }

    fn whole(&self, item: &Item) -> Out<u64> {
        match self.number(item)? {
            Number::Int(n @ 0..) => Ok(n as u64),
            _ => Err(self.error(item, "expected a whole number from 0 on")),
        }
    }

    fn scalar(&self, item: &Item) -> Out<Value> {
        match item.get_ref() {
            DeValue::String(text) => Ok(Value::Text(text.to_string())),
            DeValue::Boolean(b) => Ok(Value::Bool(*b)),
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
                .map(Value::Int)
                .map_err(|_| self.error(item, "this number is too large")),
            DeValue::Float(x) => {
                let x = x.as_str().parse().ok().filter(|x: &f64| x.is_finite());
                x.map(Value::Float).ok_or_else(|| self.error(item, "expected a finite number"))
            }
            other => Err(self.error(item, format!("expected a number or a text, found {}", article(other)))),
        }
    }

    fn product<'a>(&mut self, table: &'a Table<'a>) -> Out<Product<'a>> {
        let mut product = Product::default();
        if let Some(axes) = table.get("axes") {
            self.axes(self.table(axes, "`axes`")?, "", &mut product.axes)?;
        }
        if let Some(variables) = table.get("variables") {
            for (key, item) in self.table(variables, "`variables`")? {
                let name: &str = key.get_ref();
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if name.is_empty() || !name.chars().all(plain) {
                    return Err(self.at(key.span(), "a variable's name has letters, digits, `_` and `-`"));
                }
                if Axis::named(name).is_ok() {
                    return Err(self
                        .at(key.span(), format!("`{name}` is the name of an axis"))
                        .hint("give the variable another name, or put it under [axes]"));
                }
                let axis = Axis::Variable(name.to_owned());
                self.axis(name, axis, key.span(), item, &mut product.axes)?;
            }
        }
        if let Some(zip) = table.get("zip") {
            let lists = self.array(zip, "zip")?;
            let flat = lists.iter().all(|l| matches!(l.get_ref(), DeValue::String(_)));
            if flat && !lists.is_empty() {
                product.zips.push((self.texts(zip)?, zip.span()));
            } else {
                for list in lists {
                    product.zips.push((self.texts(list)?, list.span()));
                }
            }
        }
        if let Some(list) = table.get("exclude") {
            for item in self.array(list, "exclude")? {
                product.exclude.push((self.table(item, "an exclusion")?, item.span()));
            }
        }
        if let Some(item) = table.get("sample") {
            product.sample = Some(self.sample(item)?);
        }
        Ok(product)
    }

    fn sample(&self, item: &Item) -> Out<Sample> {
        let table = self.table(item, "`sample`")?;
        self.known(table, &["kind", "count", "seed"], "a sample")?;
        let get = |key: &str| table.get(key).map(|i| self.whole(i)).transpose();
        let seed = get("seed")?.unwrap_or(1);
        let count = || match get("count")? {
            Some(0) | None => Err(self
                .error(item, "a sample says how many points")
                .hint("sample = { kind = \"latin\", count = 100, seed = 1 }")),
            Some(count) => Ok(count),
        };
        let kind = table.get("kind").map(|k| self.text(k)).transpose()?.unwrap_or_default();
        match kind.as_str() {
            "grid" => Ok(Sample::Grid),
            "random" => Ok(Sample::Random { count: count()?, seed }),
            "latin" => Ok(Sample::Latin { count: count()?, seed }),
            _ => {
                let at = table.get("kind").unwrap_or(item);
                Err(self.error(at, "the kind of a sample is \"grid\", \"random\" or \"latin\""))
            }
        }
    }

    /// The axes of a table; tables that are no ranges are parts of names (`core.waves`).
    fn axes<'a>(&mut self, table: &'a Table<'a>, before: &str, out: &mut Vec<Written>) -> Out<()> {
        for (key, item) in table {
            let name = match before {
                "" => key.get_ref().to_string(),
                _ => format!("{before}.{}", key.get_ref()),
            };
            match item.get_ref() {
                DeValue::Table(inner) if !inner.contains_key("from") && !inner.contains_key("to") => {
                    if inner.is_empty() {
                        return Err(self.error(item, format!("axis `{name}` has no values")));
                    }
                    self.axes(inner, &name, out)?;
                }
                _ => {
                    let axis = Axis::named(&name)
                        .map_err(|(message, hint)| self.at(key.span(), message).hint(hint))?;
                    self.axis(&name, axis, key.span(), item, out)?;
                }
            }
        }
        Ok(())
    }

    fn axis(
        &mut self,
        name: &str,
        axis: Axis,
        span: Range<usize>,
        item: &Item,
        out: &mut Vec<Written>,
    ) -> Out<()> {
        let lists = matches!(axis, Axis::Part(part) if part.takes_lists());
        let values = self.values(name, lists, item)?;
        let kinds = values.iter().map(Value::kind).reduce(|a, b| a.with(b));
        let Some(kind) = kinds else {
            return Err(self
                .error(item, format!("axis `{name}` has no values: the product is empty"))
                .hint("give it values, or leave it out"));
        };
        let mut seen = HashSet::new();
        let key = |v: &Value| v.number().map_or(format!("{v:?}"), |x| x.to_string());
        let list = matches!(item.get_ref(), DeValue::Array(_));
        if let Some(twice) = values.iter().find(|v| list && !seen.insert(key(v))) {
            return Err(self.error(item, format!("axis `{name}` has the value {twice} twice")));
        }
        let column = match self.columns.iter().position(|c| c.axis == axis) {
            Some(known) if self.columns[known].name != name => {
                let other = &self.columns[known].name;
                return Err(self.at(span, format!("`{name}` and `{other}` are the same axis")));
            }
            Some(known) => {
                self.columns[known].kind = self.columns[known].kind.with(kind);
                known
            }
            None => {
                self.columns.push(Column { name: name.to_owned(), axis, kind, span: span.clone() });
                self.columns.len() - 1
            }
        };
        out.push(Written { column, values, span });
        Ok(())
    }

    /// A list, a range or a single value.
    fn values(&self, name: &str, lists: bool, item: &Item) -> Out<Vec<Value>> {
        match item.get_ref() {
            DeValue::Table(table) => {
                self.known(table, &["from", "to", "step", "times", "count"], "a range")?;
                let get = |key: &str| table.get(key).map(|i| self.number(i)).transpose();
                let (Some(from), Some(to)) = (get("from")?, get("to")?) else {
                    return Err(self
                        .error(item, "this range never ends: it needs `from` and `to`")
                        .hint("{ from = 1, to = 8, step = 1 }"));
                };
                let range =
                    range::Range { from, to, step: get("step")?, times: get("times")?, count: get("count")? };
                range.values().map_err(|(message, hint)| self.error(item, message).hint(hint))
            }
            DeValue::Array(array) if lists => {
                // One list of words is one value; a list of lists is many.
                let nested = array.iter().any(|i| matches!(i.get_ref(), DeValue::Array(_)));
                match nested {
                    true => array.iter().map(|i| self.texts(i).map(Value::List)).collect(),
                    false => Ok(vec![Value::List(self.texts(item)?)]),
                }
            }
            DeValue::Array(array) => array.iter().map(|i| self.scalar(i)).collect(),
            DeValue::String(_) if lists => Ok(vec![Value::List(vec![self.text(item)?])]),
            DeValue::Datetime(_) => Err(self.error(item, format!("axis `{name}` has no dates"))),
            _ => Ok(vec![self.scalar(item)?]),
        }
    }

    fn column_of(&self, name: &str, item: &Item) -> Out<usize> {
        self.find(name, item.span())
    }

    fn find(&self, name: &str, span: Range<usize>) -> Out<usize> {
        let known = self.columns.iter().position(|c| c.name == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
            let near = nearest(name, names.iter().copied());
            let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
            let error = self.at(span, format!("the plan has no axis `{name}`"));
            error.hint(format!("{near}axes of the plan: {}", names.join(", ")))
        })
    }

    fn block(&self, product: &Product) -> Out<Block> {
        let mut steps: Vec<Steps> = Vec::new();
        let mut done: Vec<usize> = Vec::new();
        for axis in &product.axes {
            if done.contains(&axis.column) {
                continue;
            }
            let name = &self.columns[axis.column].name;
            let zip = product.zips.iter().find(|z| z.0.contains(name));
            let together: Vec<&Written> = match zip {
                None => vec![axis],
                Some((names, span)) => {
                    let written = |n: &String| {
                        let column = self.find(n, span.clone())?;
                        product.axes.iter().find(|a| a.column == column).ok_or_else(|| {
                            self.at(span.clone(), format!("this product has no axis `{n}` to go in step"))
                        })
                    };
                    names.iter().map(written).collect::<Out<_>>()?
                }
            };
            if let Some(other) = together.iter().find(|w| w.values.len() != together[0].values.len()) {
                let span = zip.map_or(axis.span.clone(), |z| z.1.clone());
                let message = format!(
                    "axes that go in step have equally many values: `{}` has {}, `{}` has {}",
                    self.columns[together[0].column].name,
                    together[0].values.len(),
                    self.columns[other.column].name,
                    other.values.len()
                );
                return Err(self
                    .at(span, message)
                    .hint("take one of them out of `zip`, or give it more values"));
            }
            done.extend(together.iter().map(|w| w.column));
            let values = (0..together[0].values.len())
                .map(|i| together.iter().map(|w| w.values[i].clone()).collect())
                .collect();
            steps.push(Steps { columns: together.iter().map(|w| w.column).collect(), values });
        }
        for (names, span) in &product.zips {
            for name in names {
                self.find(name, span.clone())?;
            }
        }
        let exclude = product.exclude.iter().map(|(t, span)| self.exclusion(t, span)).collect::<Out<_>>()?;
        let sample = product.sample.unwrap_or_default();
        let size = steps.iter().map(|s| s.values.len() as u128).fold(1_u128, u128::saturating_mul);
        let grid = sample == Sample::Grid && size > MOST;
        if grid || size > u128::from(u64::MAX >> 1) {
            let span = product.axes.first().map_or(0..0, |a| a.span.clone());
            return Err(self
                .at(span, format!("the product of the axes has {size} points"))
                .hint("take a sample: sample = { kind = \"latin\", count = 1000, seed = 1 }"));
        }
        Ok(Block { steps, exclude, sample })
    }

    fn exclusion(&self, table: &Table, span: &Range<usize>) -> Out<Exclusion> {
        let mut conditions = Vec::new();
        self.conditions(table, "", &mut conditions)?;
        if conditions.is_empty() {
            return Err(self.at(span.clone(), "an exclusion without conditions excludes everything"));
        }
        Ok(Exclusion { conditions })
    }

    fn conditions(&self, table: &Table, before: &str, out: &mut Vec<(usize, Vec<Value>)>) -> Out<()> {
        for (key, item) in table {
            let name = match before {
                "" => key.get_ref().to_string(),
                _ => format!("{before}.{}", key.get_ref()),
            };
            match item.get_ref() {
                DeValue::Table(inner) if !inner.contains_key("from") => self.conditions(inner, &name, out)?,
                _ => {
                    let column = self.find(&name, key.span())?;
                    let lists = matches!(self.columns[column].axis, Axis::Part(part) if part.takes_lists());
                    out.push((column, self.values(&name, lists, item)?));
                }
            }
        }
        Ok(())
    }

    fn measures(&self, top: &Table) -> Out<Vec<Measure>> {
        let mut options = MeasureOptions::default();
        if let Some(item) = top.get("bound") {
            let table = self.table(item, "`bound`")?;
            self.known(table, &["runs", "unmeasured", "facts_from_trace", "hybrid"], "`bound`")?;
            let flag = |key: &str| match table.get(key).map(|i| (i, i.get_ref())) {
                None => Ok(false),
                Some((_, DeValue::Boolean(b))) => Ok(*b),
                Some((i, _)) => Err(self.error(i, "expected true or false")),
            };
            if let Some(runs) = table.get("runs") {
                options.runs = u32::try_from(self.whole(runs)?.max(1)).unwrap_or(u32::MAX);
            }
            if let Some(item) = table.get("unmeasured") {
                let text = self.scalar(item)?.to_string();
                if !matches!(text.as_str(), "error" | "exclude") && text.parse::<u64>().is_err() {
                    return Err(
                        self.error(item, "`unmeasured` is \"error\", \"exclude\" or a number of cycles")
                    );
                }
                options.unmeasured = text;
            }
            options.facts_from_trace = flag("facts_from_trace")?;
            options.hybrid = flag("hybrid")?;
        }
        if let Some(item) = top.get("worst") {
            let table = self.table(item, "`worst`")?;
            self.known(table, &["tries", "seed"], "`worst`")?;
            if let Some(tries) = table.get("tries") {
                options.tries = self.whole(tries)?;
            }
            if let Some(seed) = table.get("seed") {
                options.seed = self.whole(seed)?;
            }
        }
        let Some(item) = top.get("measure") else { return Ok(vec![Measure::Cycles]) };
        let list = match item.get_ref() {
            DeValue::Array(array) => {
                array.iter().map(|i| self.text(i).map(|t| (t, i))).collect::<Out<_>>()?
            }
            _ => vec![(self.text(item)?, item)],
        };
        let mut out: Vec<Measure> = Vec::new();
        for (name, item) in list {
            let Some(measure) = Measure::named(&name, &options) else {
                let error = self.error(item, format!("there is no measure `{name}`"));
                return Err(error.hint(format!("measures: {}", Measure::NAMES.join(", "))));
            };
            if !out.contains(&measure) {
                out.push(measure);
            }
        }
        // One run gives both.
        if out.contains(&Measure::Stats) {
            out.retain(|m| *m != Measure::Cycles);
        }
        if out.is_empty() {
            return Err(self
                .error(item, "nothing is measured")
                .hint(format!("measures: {}", Measure::NAMES.join(", "))));
        }
        Ok(out)
    }
}

fn article(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
