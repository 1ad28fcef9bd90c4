//! `--set a.b=c`: changes of single fields of a machine, with the same checks as a file.
//! Only fields the schema has can be set; entries of `units` and `caches` go by name or index.

use crate::error::{HwError, suggest};
use crate::machine::Machine;
use crate::schema::{self, Field, Kind, SCHEMA, join};
use toml::{Table, Value};

/// Splits `core.waves=4` into path and value.
pub fn parse_set(text: &str) -> Result<(String, String), HwError> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok((path.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(HwError::new(format!("`{text}` is not of the form field=value")).help("e.g. core.waves=4")),
    }
}

impl Machine {
    /// Applies the settings in order, then validates the result once.
    pub fn with_overrides(self, sets: &[(String, String)]) -> Result<Machine, HwError> {
        if sets.is_empty() {
            self.validate()?;
            return Ok(self);
        }
        let mut table = self.to_table();
        for (path, value) in sets {
            let keys = split_path(path)?;
            set(&mut table, SCHEMA, "", &keys, value)?;
        }
        let machine = Machine::from_table(table)?;
        machine.validate()?;
        Ok(machine)
    }
}

/// `units[0].latency` and `units.0.latency` are the same path.
fn split_path(path: &str) -> Result<Vec<&str>, HwError> {
    let keys: Vec<&str> =
        path.split('.').flat_map(|k| k.split('[')).map(|k| k.strip_suffix(']').unwrap_or(k)).collect();
    if keys.iter().any(|k| k.is_empty()) {
        return Err(HwError::field(path, "not a field path").help("e.g. core.waves or units.alu.count"));
    }
    Ok(keys)
}

fn set(
    table: &mut Table,
    fields: &'static [Field],
    path: &str,
    keys: &[&str],
    value: &str,
) -> Result<(), HwError> {
    let Some((key, rest)) = keys.split_first() else {
        let names: Vec<_> = fields.iter().map(|f| f.name).collect();
        return Err(HwError::field(path, "has fields of its own; set one of them")
            .help(format!("fields of `{path}`: {}", names.join(", "))));
    };
    let field = schema::find(fields, path, key)?;
    let here = join(path, key);
    match (field.kind, rest.split_first()) {
        (Kind::Table(inner), _) => match table.get_mut(*key) {
            Some(Value::Table(t)) => set(t, inner, &here, rest, value),
            _ => Err(HwError::field(here, "missing")),
        },
        (Kind::Named(inner), _) => {
            let list = match table.get_mut(*key) {
                Some(Value::Array(a)) => a.as_mut_slice(),
                _ => &mut [],
            };
            let (entry, name) = entry(list, &here, rest.first().copied())?;
            set(entry, inner, &name, &rest[1..], value)
        }
        (Kind::Map, None) => Err(HwError::field(&here, "is set by instruction class")
            .help(format!("e.g. {here}.mul=3; classes of this unit: {}", classes(table).join(", ")))),
        (Kind::Map, Some((class, []))) => {
            let here = join(&here, class);
            let classes = classes(table);
            if !classes.iter().any(|c| c == class) {
                let classes: Vec<_> = classes.iter().map(String::as_str).collect();
                return Err(HwError::field(here, "this unit has no such class").help(suggest(
                    class,
                    "classes of this unit",
                    &classes,
                )));
            }
            let n = parse(Kind::U32, &here, value)?;
            if let Some(Value::Table(t)) = table.get_mut(*key) {
                t.insert((*class).to_owned(), n);
            }
            Ok(())
        }
        (_, None) => {
            table.insert((*key).to_owned(), parse(field.kind, &here, value)?);
            Ok(())
        }
        (_, Some(_)) => Err(HwError::field([&[path], keys].concat().join(".").trim_matches('.'), {
            format!("`{here}` is {} and has no fields", field.kind.describe())
        })),
    }
}

fn classes(unit: &Table) -> Vec<String> {
    let list = unit.get("classes").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|c| c.as_str().map(str::to_owned)).collect()
}

/// The entry called `key` (or number `key`) and its path.
fn entry<'a>(
    list: &'a mut [Value],
    path: &str,
    key: Option<&str>,
) -> Result<(&'a mut Table, String), HwError> {
    let names: Vec<String> =
        list.iter().map(|e| e.get("name").and_then(Value::as_str).unwrap_or("").to_owned()).collect();
    let shown: Vec<&str> = names.iter().map(String::as_str).collect();
    let Some(key) = key else {
        return Err(HwError::field(path, "is a list; name an entry and one of its fields")
            .help(format!("entries of `{path}`: {}", shown.join(", "))));
    };
    let index = names.iter().position(|n| n == key).or_else(|| key.parse().ok());
    match index.and_then(|i| list.get_mut(i).map(|e| (i, e))) {
        Some((i, Value::Table(t))) => Ok((t, schema::entry_path(path, i, &names[i]))),
        _ => Err(HwError::field(join(path, key), "no such entry").help(suggest(
            key,
            &format!("entries of `{path}`"),
            &shown,
        ))),
    }
}

fn parse(kind: Kind, path: &str, text: &str) -> Result<Value, HwError> {
    let quoted = ['"', '\''].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q));
    let bare = quoted.unwrap_or(text);
    match kind {
        Kind::U32 | Kind::U64 => {
            let n = number(text).ok_or_else(|| {
                schema::wrong_type(path, &format!("`{text}`"), kind)
                    .help("numbers may have `_` and a suffix k, M or G (times 1024, 1024², 1024³)")
            })?;
            Ok(Value::Integer(schema::check_number(path, n, kind)?))
        }
        Kind::Text => Ok(Value::String(bare.to_owned())),
        Kind::Word(allowed) => {
            schema::check_word(path, bare, allowed)?;
            Ok(Value::String(bare.to_owned()))
        }
        Kind::Texts => {
            let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
            let items = list.split([',', ' ']).map(|s| s.trim().trim_matches(['"', '\'']));
            let items = items.filter(|s| !s.is_empty()).map(|s| Value::String(s.to_owned()));
            Ok(Value::Array(items.collect()))
        }
        Kind::Map | Kind::Table(_) | Kind::Named(_) => {
            Err(schema::wrong_type(path, &format!("`{text}`"), kind))
        }
    }
}

/// Decimal or `0x` hexadecimal, `_` between digits, suffix k/M/G for powers of 1024.
fn number(text: &str) -> Option<i128> {
    let (digits, scale) = match text.chars().last()? {
        'k' | 'K' => (&text[..text.len() - 1], 1 << 10),
        'M' => (&text[..text.len() - 1], 1 << 20),
        'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1_i128),
    };
    let (sign, digits) = digits.strip_prefix('-').map_or((1, digits), |d| (-1, d));
    let (radix, digits) = digits.strip_prefix("0x").map_or((10, digits), |d| (16, d));
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let n = i128::from_str_radix(&digits, radix).unwrap_or(i128::MAX);
    Some(n.saturating_mul(scale).saturating_mul(sign))
}
