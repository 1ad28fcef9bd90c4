//! The schema table says exactly what the serde structures accept.

use crate::guppy;
use toml::{Table, Value};
use wb_hw::{Field, Kind, Machine, Policy, SCHEMA};

fn accepts(table: &Table) -> bool {
    Value::Table(table.clone()).try_into::<Machine>().is_ok()
}

/// Calls `visit` for each field with a way to reach its table in a machine's TOML.
fn walk(fields: &'static [Field], way: &[&'static str], visit: &mut dyn FnMut(&[&'static str], &Field)) {
    for f in fields {
        visit(way, f);
        if let Kind::Table(inner) | Kind::Named(inner) = f.kind {
            let way: Vec<_> = way.iter().copied().chain([f.name]).collect();
            walk(inner, &way, visit);
        }
    }
}

fn reach<'a>(table: &'a mut Table, way: &[&str]) -> &'a mut Table {
    let mut at = table;
    for key in way {
        at = match at.get_mut(*key) {
            Some(Value::Table(t)) => t,
            Some(Value::Array(a)) => a[0].as_table_mut().expect("table"),
            other => panic!("{key}: {other:?}"),
        };
    }
    at
}

fn whole() -> Table {
    guppy().to_toml().parse().expect("toml")
}

#[test]
fn names_agree() {
    fn same(table: &Table, fields: &[Field]) {
        let mut keys: Vec<_> = table.keys().map(String::as_str).collect();
        let mut names: Vec<_> = fields.iter().map(|f| f.name).collect();
        keys.sort_unstable();
        names.sort_unstable();
        assert_eq!(keys, names);
    }
    same(&whole(), SCHEMA);
    walk(SCHEMA, &[], &mut |way, f| {
        if let Kind::Table(inner) | Kind::Named(inner) = f.kind {
            let way: Vec<_> = way.iter().copied().chain([f.name]).collect();
            same(reach(&mut whole(), &way), inner);
        }
    });
}

#[test]
fn required_fields_agree() {
    walk(SCHEMA, &[], &mut |way, f| {
        let mut table = whole();
        reach(&mut table, way).remove(f.name);
        assert_eq!(accepts(&table), !f.required, "{way:?} {}", f.name);
    });
}

#[test]
fn words_and_types_agree() {
    walk(SCHEMA, &[], &mut |way, f| {
        let with = |v: Value| {
            let mut table = whole();
            reach(&mut table, way).insert(f.name.to_owned(), v);
            accepts(&table)
        };
        let number = with(Value::Integer(1));
        assert_eq!(number, matches!(f.kind, Kind::U32 | Kind::U64), "{way:?} {}", f.name);
        assert_eq!(with(Value::String("no such word".into())), matches!(f.kind, Kind::Text), "{}", f.name);
        if let Kind::Word(words) = f.kind {
            assert!(words.iter().all(|w| with(Value::String((*w).into()))), "{way:?} {}", f.name);
        }
        let big = with(Value::Integer(i64::from(u32::MAX) + 1));
        assert_eq!(big, matches!(f.kind, Kind::U64), "{way:?} {}", f.name);
    });
}

#[test]
fn every_policy_is_in_the_table() {
    let Some(Kind::Table(issue)) = SCHEMA.iter().find(|f| f.name == "issue").map(|f| f.kind) else {
        panic!()
    };
    let Kind::Word(words) = issue[0].kind else { panic!() };
    let names = Policy::ALL.iter().map(|p| p.name());
    let all: Vec<_> = names.chain(Policy::ALL.iter().flat_map(|p| p.info().also.iter().copied())).collect();
    assert_eq!(words, all.as_slice());
}
