//! The commands of the terminal: one table with their names, what follows them and what they do, and the parser.

use crate::breaks::What;
use crate::error::DebugError;
use crate::goal::{Go, Goal};

/// What a user typed, understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Go(Go),
    /// A breakpoint; `once`: for one stop.
    Break {
        what: Spot,
        condition: Option<String>,
        once: bool,
    },
    Watch {
        place: String,
        bytes: Option<u64>,
        condition: Option<String>,
    },
    Delete(Option<u32>),
    Enable(u32, bool),
    Hits(u32, String),
    Wave(u32, Option<usize>),
    Path(usize),
    Lane(u32),
    Regs {
        all: bool,
    },
    Row(String),
    Mask,
    Paths,
    Where,
    List(Option<u32>),
    Disasm(Option<u64>),
    Print(String),
    Memory {
        place: String,
        count: u64,
        element: Option<String>,
    },
    Local(String),
    Private(String),
    Info(String),
    Help(String),
}

/// Where a breakpoint is to stand.
#[derive(Clone, Debug, PartialEq)]
pub enum Spot {
    Known(What),
    /// Where the path in focus is.
    Here,
}

/// Names of a command, what follows, what it does.
pub const COMMANDS: &[(&[&str], &str, &str)] = &[
    (
        &["break", "b"],
        "[FILE:]LINE | *ADDRESS | pc ADDRESS | LABEL | diverge [wave N] [lane N] [if CONDITION]",
        "stop there; without a place, anywhere the condition holds",
    ),
    (&["tbreak", "tb"], "(as break)", "the same for one stop"),
    (&["watch"], "BUFFER[INDEX] | BUFFER | ADDRESS [BYTES] [if CONDITION]", "stop when memory is written"),
    (&["delete", "d"], "[N]", "remove a breakpoint, or all"),
    (&["enable"], "N", "let a breakpoint stop again"),
    (&["disable"], "N", "let a breakpoint stop no longer"),
    (&["hits"], "N RULE", "stop only at some hits: 5, >= 5, > 5, % 5"),
    (&["continue", "c"], "", "run to the next breakpoint or the end"),
    (&["step", "s"], "", "run to the next source line, also in a function that is called"),
    (&["next", "n"], "", "run to the next source line of this function"),
    (&["stepi", "si"], "[N]", "run an instruction of this wave, or N"),
    (&["finish"], "", "run until this function returns"),
    (&["until", "u"], "barrier [wave N] | diverge [lane N]", "run to a barrier, or until lanes part"),
    (&["launch"], "", "run to the beginning of the next launch"),
    (
        &["back"],
        "[N | step | next | finish | barrier | diverge | launch]",
        "go back an instruction of this wave, or further",
    ),
    (&["reverse-continue", "rc"], "", "go back to where a breakpoint would have stopped"),
    (&["goto"], "STEP", "go to where the launch has executed so many instructions, forwards or backwards"),
    (&["restart", "run"], "", "start again from the beginning"),
    (&["wave", "w"], "N [PATH]", "look at another wave"),
    (&["path"], "N", "look at another path of the wave"),
    (&["lane", "l"], "N", "look at another lane"),
    (&["regs", "r"], "[all]", "registers of the lane that are not 0, or all"),
    (&["v"], "N | NAME", "a register in all lanes"),
    (&["mask", "m"], "", "lanes of the path, and which of them are on"),
    (&["paths"], "", "paths of the wave and where they are"),
    (&["where", "bt"], "", "functions that the lane is in"),
    (&["list"], "[LINE]", "source around here, or around a line"),
    (&["disasm", "x"], "[ADDRESS]", "instructions around here, or from an address"),
    (&["print", "p"], "EXPRESSION | BUFFER[A..B] [as TYPE]", "a value, or elements of a buffer"),
    (&["mem"], "PLACE [COUNT [TYPE]]", "memory at an address or buffer"),
    (&["local"], "[A..B] [as TYPE]", "local memory of the group"),
    (&["private"], "[A..B] [as TYPE]", "private memory of the wave"),
    (&["info", "i"], "waves | groups | buffers | breaks | kernel | args", "what there is"),
    (&["help", "h"], "[COMMAND | names]", "this"),
    (&["quit", "q"], "", "end"),
];

pub fn parse(line: &str) -> Result<Command, DebugError> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let found = COMMANDS.iter().find(|(names, ..)| names.contains(&word));
    let Some((names, usage, _)) = found else {
        return Err(
            DebugError::new(format!("there is no command `{word}`")).hint("`help` lists the commands")
        );
    };
    let usage =
        || DebugError::new(format!("`{line}` is not understood")).hint(format!("{} {usage}", names[0]));
    let number = |text: &str| text.parse::<u64>().map_err(|_| usage());
    let small = |text: &str| text.parse::<u32>().map_err(|_| usage());
    let none = |command: Command| if rest.is_empty() { Ok(command) } else { Err(usage()) };
    let forward = |goal| Command::Go(Go::Forward(goal));
    Ok(match names[0] {
        "break" | "tbreak" => breakpoint(rest, names[0] == "tbreak").ok_or_else(usage)?,
        "watch" => watch(rest).ok_or_else(usage)?,
        "delete" if rest.is_empty() => Command::Delete(None),
        "delete" => Command::Delete(Some(small(rest)?)),
        "enable" => Command::Enable(small(rest)?, true),
        "disable" => Command::Enable(small(rest)?, false),
        "hits" => {
            let (id, rule) = rest.split_once(char::is_whitespace).ok_or_else(usage)?;
            Command::Hits(small(id)?, rule.trim().to_owned())
        }
        "continue" => none(forward(Goal::Continue))?,
        "step" => none(forward(Goal::Line { over: false }))?,
        "next" => none(forward(Goal::Line { over: true }))?,
        "stepi" if rest.is_empty() => forward(Goal::Instructions(1)),
        "stepi" => forward(Goal::Instructions(number(rest)?.max(1))),
        "finish" => none(forward(Goal::Finish))?,
        "until" => forward(until(rest).ok_or_else(usage)?),
        "launch" => none(forward(Goal::Launch))?,
        "back" => Command::Go(Go::Back(match rest {
            "" | "stepi" => Goal::Instructions(1),
            "step" => Goal::Line { over: false },
            "next" => Goal::Line { over: true },
            "finish" => Goal::Finish,
            "launch" => Goal::Launch,
            n if n.starts_with(|c: char| c.is_ascii_digit()) => Goal::Instructions(number(n)?.max(1)),
            other => until(other).ok_or_else(usage)?,
        })),
        "reverse-continue" => none(Command::Go(Go::Back(Goal::Continue)))?,
        "goto" => forward(Goal::Step(number(rest)?)),
        "restart" => none(Command::Go(Go::Restart))?,
        "wave" => match rest.split_once(char::is_whitespace) {
            Some((wave, path)) => Command::Wave(small(wave)?, Some(small(path.trim())? as usize)),
            None => Command::Wave(small(rest)?, None),
        },
        "path" => Command::Path(small(rest)? as usize),
        "lane" => Command::Lane(small(rest)?),
        "regs" => match rest {
            "" => Command::Regs { all: false },
            "all" => Command::Regs { all: true },
            name => Command::Row(name.to_owned()),
        },
        "v" if rest.is_empty() => return Err(usage()),
        "v" if rest.bytes().all(|b| b.is_ascii_digit()) => Command::Row(format!("v{rest}")),
        "v" => Command::Row(rest.to_owned()),
        "mask" => none(Command::Mask)?,
        "paths" => none(Command::Paths)?,
        "where" => none(Command::Where)?,
        "list" if rest.is_empty() => Command::List(None),
        "list" => Command::List(Some(small(rest)?)),
        "disasm" if rest.is_empty() => Command::Disasm(None),
        "disasm" => Command::Disasm(Some(address(rest).ok_or_else(usage)?)),
        "print" if rest.is_empty() => return Err(usage()),
        "print" => Command::Print(rest.to_owned()),
        "mem" => {
            let mut parts = rest.split_whitespace();
            let place = parts.next().ok_or_else(usage)?.to_owned();
            let count = parts.next().map(number).transpose()?.unwrap_or(16);
            Command::Memory { place, count, element: parts.next().map(str::to_owned) }
        }
        "local" => Command::Local(rest.to_owned()),
        "private" => Command::Private(rest.to_owned()),
        "info" => Command::Info(rest.to_owned()),
        "help" => Command::Help(rest.to_owned()),
        "quit" => none(Command::Go(Go::Quit))?,
        _ => return Err(usage()),
    })
}

fn until(text: &str) -> Option<Goal> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["barrier"] => Some(Goal::Barrier { wave: None }),
        ["barrier", "wave", n] => Some(Goal::Barrier { wave: Some(n.parse().ok()?) }),
        ["diverge"] => Some(Goal::Diverge { lane: None }),
        ["diverge", "lane", n] => Some(Goal::Diverge { lane: Some(n.parse().ok()?) }),
        _ => None,
    }
}

pub fn address(text: &str) -> Option<u64> {
    let text = text.trim().trim_start_matches('*');
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Splits off `if CONDITION`, `wave N` and `lane N`, which are conditions, too.
fn conditions(text: &str) -> Option<(&str, Option<String>)> {
    let (mut place, mut all) = match text.split_once(" if ").or_else(|| Some(("", text.strip_prefix("if ")?)))
    {
        Some((place, condition)) => (place.trim(), vec![format!("({})", condition.trim())]),
        None => (text, Vec::new()),
    };
    loop {
        let words: Vec<&str> = place.split_whitespace().collect();
        let [.., word @ ("wave" | "lane" | "group"), n] = words.as_slice() else { break };
        n.parse::<u32>().ok()?;
        all.push(format!("{word} == {n}"));
        let end = place.rfind(word)?;
        place = place[..end].trim();
    }
    let only = match all.as_slice() {
        [] => None,
        [one] => Some(one.strip_prefix('(').and_then(|c| c.strip_suffix(')')).unwrap_or(one).to_owned()),
        _ => Some(all.join(" && ")),
    };
    Some((place, only))
}

fn breakpoint(text: &str, once: bool) -> Option<Command> {
    let (place, condition) = conditions(text)?;
    let what = match place {
        "" if condition.is_some() => Spot::Known(What::Anywhere),
        "" => Spot::Here,
        "diverge" => Spot::Known(What::Diverge),
        p if p.starts_with('*') => Spot::Known(What::Address(address(p)?)),
        p if p.starts_with("pc ") => Spot::Known(What::Address(address(&p[3..])?)),
        p if p.bytes().all(|b| b.is_ascii_digit()) => {
            Spot::Known(What::Line { file: None, line: p.parse().ok()? })
        }
        p => match p.rsplit_once(':') {
            Some((file, line)) => {
                Spot::Known(What::Line { file: Some(file.to_owned()), line: line.parse().ok()? })
            }
            None if p.split_whitespace().count() == 1 => Spot::Known(What::Label(p.to_owned())),
            None => return None,
        },
    };
    Some(Command::Break { what, condition, once })
}

fn watch(text: &str) -> Option<Command> {
    let (place, condition) = conditions(text)?;
    let (place, bytes) = match place.rsplit_once(char::is_whitespace) {
        Some((start, last)) if last.bytes().all(|b| b.is_ascii_digit()) => {
            (start.trim(), Some(last.parse().ok()?))
        }
        _ => (place, None),
    };
    (!place.is_empty()).then(|| Command::Watch { place: place.to_owned(), bytes, condition })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_conditions_are_told_apart() {
        let line = |file: Option<&str>, line| Spot::Known(What::Line { file: file.map(str::to_owned), line });
        let b = |text: &str| match parse(text) {
            Ok(Command::Break { what, condition, .. }) => (what, condition),
            other => panic!("{other:?}"),
        };
        assert_eq!(b("break 12"), (line(None, 12), None));
        assert_eq!(b("b a.cl:12 if v3[5] == 0"), (line(Some("a.cl"), 12), Some("v3[5] == 0".into())));
        assert_eq!(b("b 12 wave 3 lane 7"), (line(None, 12), Some("lane == 7 && wave == 3".into())));
        assert_eq!(b("b 12 lane 7 if x[0] > 1"), (line(None, 12), Some("(x[0] > 1) && lane == 7".into())));
        assert_eq!(b("b *0x110").0, Spot::Known(What::Address(0x110)));
        assert_eq!(b("b pc 0x110").0, Spot::Known(What::Address(0x110)));
        assert_eq!(b("b if s4 > 2"), (Spot::Known(What::Anywhere), Some("s4 > 2".into())));
        assert_eq!(b("b main").0, Spot::Known(What::Label("main".into())));
        assert!(parse("b 12 13 14").is_err());
        assert!(matches!(parse("watch x[5] 8 if wave == 1"), Ok(Command::Watch { bytes: Some(8), .. })));
    }

    #[test]
    fn every_command_of_the_table_is_understood_or_says_how_it_is_used() {
        for (names, usage, _) in COMMANDS {
            for name in *names {
                if let Err(e) = parse(name) {
                    assert!(e.hint.is_some_and(|h| h.contains(usage)), "{name}");
                }
            }
        }
        assert_eq!(parse("frobnicate").expect_err("none").hint.expect("hint"), "`help` lists the commands");
    }
}
