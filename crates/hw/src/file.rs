//! Machine files: TOML with an optional `base = "preset or file.toml"` whose fields it changes.
//! Tables merge field by field, `units` and `caches` entry by entry by `name`; other lists replace.

use crate::error::{HwError, suggest};
use crate::machine::Machine;
use crate::presets::presets;
use crate::schema::{self, Field, Kind, SCHEMA, join};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// A machine by preset name, or from a file when the name ends in `.toml`.
pub fn load(name_or_path: &str) -> Result<Machine, HwError> {
    if !name_or_path.ends_with(".toml") {
        return crate::presets::preset(name_or_path);
    }
    let path = Path::new(name_or_path);
    let text = read(path)?;
    let mut chain = vec![canonical(path)];
    Reader { file: name_or_path, text: &text, dir: path.parent() }.machine(&mut chain)
}

impl Machine {
    /// Parses and validates; `name` stands for the file in messages. `base` may name a preset.
    pub fn from_toml(text: &str, name: &str) -> Result<Machine, HwError> {
        Reader { file: name, text, dir: None }.machine(&mut Vec::new())
    }

    /// Every field, in a fixed order; [`Machine::from_toml`] reads it back.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_table()).unwrap_or_default()
    }

    pub(crate) fn to_table(&self) -> Table {
        let mut m = self.clone();
        // TOML has no numbers above i64; validate() allows far less.
        m.limits.cycles = m.limits.cycles.min(i64::MAX as u64);
        m.limits.memory = m.limits.memory.min(i64::MAX as u64);
        Table::try_from(&m).unwrap_or_default()
    }

    pub(crate) fn from_table(table: Table) -> Result<Machine, HwError> {
        // The schema check comes first and names fields better; this is the safety net.
        Value::Table(table).try_into().map_err(|e: toml::de::Error| HwError::new(e.message()))
    }
}

fn read(path: &Path) -> Result<String, HwError> {
    wb_files::read_text(path, wb_files::Kind::Description).map_err(|e| {
        let names: Vec<_> = presets().iter().map(|p| p.name).collect();
        HwError::new(format!("cannot read machine file {}: {}", path.display(), e.why))
            .help(format!("a path ending in .toml, or a preset: {}", names.join(", ")))
    })
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// One file being read, and where a relative `base` is looked for.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    dir: Option<&'a Path>,
}

type Spans = BTreeMap<String, Range<usize>>;

impl Reader<'_> {
    fn machine(&self, chain: &mut Vec<PathBuf>) -> Result<Machine, HwError> {
        let mut spans = Spans::new();
        let table = self.table(chain, &mut spans)?;
        missing(&table, SCHEMA, "").map_err(|e| self.locate(e, &spans))?;
        let machine = Machine::from_table(table)?;
        machine.validate().map_err(|e| self.locate(e, &spans))?;
        Ok(machine)
    }

    /// The file's table on top of its base's; `spans` gets where each field of this file stands.
    fn table(&self, chain: &mut Vec<PathBuf>, spans: &mut Spans) -> Result<Table, HwError> {
        let doc = DeTable::parse(self.text).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            HwError::new(e.message().trim_end()).at(self.file, self.text, span)
        })?;
        let mut base = None;
        let mut own = Table::new();
        for (key, value) in doc.get_ref() {
            let name: &str = key.get_ref();
            if name == "base" {
                base = Some(value);
                continue;
            }
            let field = schema::find(SCHEMA, "", name).map_err(|e| self.at(e, key.span()))?;
            own.insert(name.to_owned(), self.value(field.kind, name, value, spans)?);
        }
        let Some(base) = base else { return Ok(own) };
        let base_name = base.get_ref().as_str().ok_or_else(|| {
            self.at(schema::wrong_type("base", base.get_ref().type_str(), Kind::Text), base.span())
        })?;
        let mut table = self.base(base_name, chain).map_err(|e| self.at(e, base.span()))?;
        if !own.contains_key("name") {
            let stem = Path::new(self.file).file_stem().map(|s| s.to_string_lossy().into_owned());
            own.insert("name".into(), Value::String(stem.unwrap_or_else(|| self.file.to_owned())));
        }
        merge(&mut table, own);
        Ok(table)
    }

    fn base(&self, name: &str, chain: &mut Vec<PathBuf>) -> Result<Table, HwError> {
        let path = match self.dir {
            Some(dir) if name.ends_with(".toml") => dir.join(name),
            _ => PathBuf::from(name),
        };
        let seen = canonical(&path);
        if chain.contains(&seen) || chain.len() > 16 {
            return Err(HwError::field("base", format!("`{name}` leads back to itself")));
        }
        chain.push(seen);
        if let Some(p) = presets().iter().find(|p| p.name == name) {
            return Reader { file: p.name, text: p.text, dir: None }.table(chain, &mut Spans::new());
        }
        if self.dir.is_none() || !name.ends_with(".toml") {
            let names: Vec<_> = presets().iter().map(|p| p.name).collect();
            return Err(
                HwError::field("base", format!("no preset `{name}`")).help(suggest(name, "presets", &names))
            );
        }
        let text = read(&path).map_err(|e| HwError { field: Some("base".into()), ..e })?;
        let file = path.to_string_lossy();
        Reader { file: &file, text: &text, dir: path.parent() }.table(chain, &mut Spans::new())
    }

    fn at(&self, e: HwError, span: Range<usize>) -> HwError {
        e.at(self.file, self.text, span)
    }

    /// Places an error at its field, or at the nearest table around it that this file has.
    fn locate(&self, e: HwError, spans: &Spans) -> HwError {
        let mut path = e.field.clone().unwrap_or_default();
        loop {
            if let Some(span) = spans.get(&path) {
                return self.at(e, span.clone());
            }
            match path.rfind(['.', '[']) {
                Some(i) => path.truncate(i),
                None => return self.at(e, 0..0),
            }
        }
    }

    /// Converts one value, checking it against the schema.
    fn value(
        &self,
        kind: Kind,
        path: &str,
        value: &Spanned<DeValue<'_>>,
        spans: &mut Spans,
    ) -> Result<Value, HwError> {
        spans.insert(path.to_owned(), value.span());
        let fail = |e: HwError| self.at(e, value.span());
        let wrong = || fail(schema::wrong_type(path, value.get_ref().type_str(), kind));
        match (kind, value.get_ref()) {
            (Kind::U32 | Kind::U64, DeValue::Integer(i)) => {
                let n = i128::from_str_radix(i.as_str(), i.radix()).unwrap_or(i128::MAX);
                Ok(Value::Integer(schema::check_number(path, n, kind).map_err(fail)?))
            }
            (Kind::Text, DeValue::String(s)) => Ok(Value::String(s.to_string())),
            (Kind::Word(allowed), DeValue::String(s)) => {
                schema::check_word(path, s, allowed).map_err(fail)?;
                Ok(Value::String(s.to_string()))
            }
            (Kind::Texts, DeValue::Array(a)) => {
                let texts = a.iter().map(|v| self.value(Kind::Text, path, v, spans));
                Ok(Value::Array(texts.collect::<Result<_, _>>()?))
            }
            (Kind::Map, DeValue::Table(t)) => {
                let mut out = Table::new();
                for (k, v) in t {
                    let v = self.value(Kind::U32, &join(path, k.get_ref()), v, spans)?;
                    out.insert(k.get_ref().to_string(), v);
                }
                Ok(Value::Table(out))
            }
            (Kind::Table(fields), DeValue::Table(t)) => self.fields(fields, path, t, spans),
            (Kind::Named(fields), DeValue::Array(a)) => {
                let mut out = Vec::new();
                for (i, v) in a.iter().enumerate() {
                    let name = v.get_ref().get("name").and_then(|n| n.get_ref().as_str());
                    let path = schema::entry_path(path, i, name.unwrap_or(""));
                    spans.entry(path.clone()).or_insert(v.span());
                    let DeValue::Table(t) = v.get_ref() else {
                        let found = v.get_ref().type_str();
                        return Err(self.at(schema::wrong_type(&path, found, Kind::Table(fields)), v.span()));
                    };
                    if name.is_none() && !t.contains_key("name") {
                        return Err(self.at(HwError::field(join(&path, "name"), "missing"), v.span()));
                    }
                    let entry = self.fields(fields, &path, t, spans)?;
                    // Two entries of one name would merge into one below.
                    if out.iter().any(|o: &Value| o.get("name") == entry.get("name")) {
                        let e = HwError::field(join(&path, "name"), "appears twice in this file");
                        return Err(self.at(e, v.span()));
                    }
                    out.push(entry);
                }
                Ok(Value::Array(out))
            }
            _ => Err(wrong()),
        }
    }

    fn fields(
        &self,
        fields: &'static [Field],
        path: &str,
        table: &DeTable<'_>,
        spans: &mut Spans,
    ) -> Result<Value, HwError> {
        let mut out = Table::new();
        for (key, value) in table {
            let name: &str = key.get_ref();
            let field = schema::find(fields, path, name).map_err(|e| self.at(e, key.span()))?;
            out.insert(name.to_owned(), self.value(field.kind, &join(path, name), value, spans)?);
        }
        Ok(Value::Table(out))
    }
}

/// Puts `over` on top of `base`.
fn merge(base: &mut Table, over: Table) {
    for (key, new) in over {
        match (base.get_mut(&key), new) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) if new.iter().all(Value::is_table) => {
                for entry in new {
                    merge_entry(old, entry);
                }
            }
            (_, new) => {
                base.insert(key, new);
            }
        }
    }
}

fn merge_entry(list: &mut Vec<Value>, entry: Value) {
    match (list.iter_mut().find(|o| o.get("name") == entry.get("name")), entry) {
        (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
        (_, entry) => list.push(entry),
    }
}

/// The first field without a default that is not there.
fn missing(table: &Table, fields: &[Field], path: &str) -> Result<(), HwError> {
    for f in fields {
        let path = join(path, f.name);
        match (f.kind, table.get(f.name)) {
            (kind, None) if f.required => {
                let e = HwError::field(&path, format!("missing; {}", kind.describe()));
                return Err(e.help("give it, or start from another machine with `base = \"…\"`"));
            }
            (Kind::Table(inner), Some(Value::Table(t))) => missing(t, inner, &path)?,
            (Kind::Named(inner), Some(Value::Array(a))) => {
                for (i, t) in a.iter().enumerate() {
                    let name = t.get("name").and_then(Value::as_str).unwrap_or("");
                    if let Some(t) = t.as_table() {
                        missing(t, inner, &schema::entry_path(&path, i, name))?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}
