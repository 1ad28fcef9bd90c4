//! Operands of the assembler: registers and views with swizzles, samplers, immediates, builtins.
//! What is wrong with one is said about the operand itself, with the form that would be right.

use super::inst::{BUILTINS, Builtin, COMPONENTS, MAX_BINDINGS, MAX_REGISTERS, Place, Src, Swizzle};
use super::lexer::{Kind, Token, is_label};
use super::table::Slot;
use crate::diag::nearest;
use crate::{AsmError, SourceFile};
use std::ops::Range;

/// An error on its way to the list; boxed, because results carry it through every function.
pub struct Fault(Box<AsmError>);

impl Fault {
    pub fn new(
        file: &SourceFile,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Fault {
        Fault(Box::new(AsmError::new(file, span, message, label)))
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.0.hint = Some(hint.into());
        self
    }

    pub fn into_error(self) -> AsmError {
        *self.0
    }
}

/// An operand by its looks, before the instruction has its say.
pub enum Found {
    Reg(Place),
    Read(Place),
    Write(Place),
    Sampler(u8),
    Imm { float: bool, count: u8, values: [u32; 4] },
    Builtin(Builtin),
}

impl Found {
    fn text(&self) -> &'static str {
        match self {
            Found::Reg(_) => "a register",
            Found::Read(_) => "a read-only view",
            Found::Write(_) => "a writable view",
            Found::Sampler(_) => "a sampler",
            Found::Imm { .. } => "an immediate",
            Found::Builtin(_) => "a builtin",
        }
    }
}

/// The tokens of one operand; never empty.
pub struct Operand<'f, 't, 'a> {
    pub file: &'f SourceFile,
    pub tokens: &'t [Token<'a>],
}

const VALUES: &str =
    "a value is a register r0.x, an immediate u(1) or f(1.0), or thread_id, lane_id, wave_id, clock";

impl<'t, 'a> Operand<'_, 't, 'a> {
    fn span(&self) -> Range<usize> {
        let first = self.tokens.first().map_or(0, |t| t.span.start);
        first..self.tokens.last().map_or(first, |t| t.span.end)
    }

    fn error(&self, message: impl Into<String>, label: impl Into<String>) -> Fault {
        Fault::new(self.file, self.span(), message, label)
    }

    fn error_at(&self, token: &Token, message: impl Into<String>, label: &str) -> Fault {
        Fault::new(self.file, token.span.clone(), message, label)
    }

    /// The operand is of a kind this place does not take.
    pub fn unexpected(&self, slot: Slot, found: &Found) -> Fault {
        let (wanted, hint) = match slot {
            Slot::Dst => ("a register", "results go to a register, as in r0.x or r0.xyzw"),
            Slot::One(_) => ("a register", "the tested value is one register component, as in r0.x"),
            Slot::Src(_) => ("a value", VALUES),
            Slot::Pair(_) => ("a value", "texture coordinates are two components, as in r0.xy"),
            Slot::ReadView => ("a read-only view", "reads go through tN views, as in t0.xyzw"),
            Slot::WriteView => ("a writable view", "stores go through uN views, as in u0.xyzw"),
            Slot::Sampler => ("a sampler", "samplers are s0 to s63"),
            Slot::Label(_) => ("a label", "name the label to go to"),
        };
        self.error(format!("{wanted} is needed here, this is {}", found.text()), format!("not {wanted}"))
            .hint(hint)
    }

    pub fn label(&self) -> Result<&'t Token<'a>, Fault> {
        match self.tokens {
            [word] if word.kind == Kind::Word && is_label(word.text) => Ok(word),
            _ => {
                let error = self.error("a label is needed here", "not a label");
                Err(error.hint("write the name of a label, without its colon"))
            }
        }
    }

    /// A register or view that is written: no component twice.
    pub fn written(&self, slot: Slot) -> Result<Place, Fault> {
        let place = match (slot, self.parse()?) {
            (Slot::Dst, Found::Reg(place)) | (Slot::WriteView, Found::Write(place)) => place,
            (_, other) => return Err(self.unexpected(slot, &other)),
        };
        match place.swizzle.duplicate() {
            None => Ok(place),
            Some(c) => {
                let message = format!("component {} is written twice", COMPONENTS[usize::from(c)]);
                Err(self.error(message, "named twice").hint("list each written component once"))
            }
        }
    }

    pub fn value(&self, slot: Slot) -> Result<Src, Fault> {
        let src = match self.parse()? {
            Found::Reg(place) => Src::Reg(place),
            Found::Imm { float, count, values } if !matches!(slot, Slot::One(_)) => {
                Src::Imm { float, count, values }
            }
            Found::Builtin(builtin) if !matches!(slot, Slot::One(_)) => Src::Builtin(builtin),
            other => return Err(self.unexpected(slot, &other)),
        };
        match slot {
            Slot::One(_) if src.positions() != 1 => {
                let error = self.error("only one component can be tested", "more than one component");
                Err(error.hint("pick one, as in r1.x"))
            }
            Slot::Pair(_) if src.positions() < 2 => {
                let error = self.error("texture coordinates are two values", "only one");
                Err(error.hint("write two components, as in r0.xy or f2(0.5 0.5)"))
            }
            _ => Ok(src),
        }
    }

    pub fn parse(&self) -> Result<Found, Fault> {
        let [first, rest @ ..] = self.tokens else {
            return Err(self.error("an operand is missing", "empty").hint(VALUES));
        };
        if first.kind != Kind::Word {
            return Err(self
                .error_at(first, format!("`{}` is not expected here", first.text), "not an operand")
                .hint(VALUES));
        }
        match rest {
            [] => self.word(first),
            [open, ..] if open.kind == Kind::Open => self.immediate(first, &rest[1..]),
            [extra, ..] => {
                let error =
                    self.error_at(extra, format!("`{}` is not expected here", extra.text), "what is this?");
                Err(error.hint("operands are separated by commas"))
            }
        }
    }

    fn word(&self, word: &Token) -> Result<Found, Fault> {
        let text = word.text;
        if let Some(&(_, builtin)) = BUILTINS.iter().find(|(name, _)| *name == text) {
            return Ok(Found::Builtin(builtin));
        }
        let (name, comps) = text.split_once('.').map_or((text, None), |(n, c)| (n, Some(c)));
        let mut digits = name.chars();
        let kind = digits.next().unwrap_or(' ');
        let digits = digits.as_str();
        let numbered = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !numbered || !matches!(kind, 'r' | 't' | 'u' | 's') {
            return Err(self.unknown(text));
        }
        let limit = if kind == 'r' { MAX_REGISTERS } else { MAX_BINDINGS };
        let index = match digits.parse::<u32>() {
            Ok(index) if index < limit => index as u8,
            _ => {
                let hint = format!("they are numbered {kind}0 to {kind}{}", limit - 1);
                return Err(self.error(format!("{name} does not exist"), "number too high").hint(hint));
            }
        };
        if kind == 's' {
            return match comps {
                None => Ok(Found::Sampler(index)),
                Some(_) => {
                    Err(self.error("a sampler has no components", "not needed").hint(format!("write {name}")))
                }
            };
        }
        let place = Place { index, swizzle: self.swizzle(name, comps)? };
        Ok(match kind {
            'r' => Found::Reg(place),
            't' => Found::Read(place),
            _ => Found::Write(place),
        })
    }

    fn swizzle(&self, name: &str, comps: Option<&str>) -> Result<Swizzle, Fault> {
        let hint = format!("write one to four of x, y, z, w, as in {name}.x or {name}.xyzw");
        let Some(comps) = comps.filter(|c| !c.is_empty()) else {
            return Err(self.error(format!("{name} names no components"), "components missing").hint(hint));
        };
        let mut list = Vec::new();
        for c in comps.chars() {
            match COMPONENTS.iter().position(|&known| known == c) {
                Some(i) => list.push(i as u8),
                None => {
                    return Err(self
                        .error(format!("`{c}` is not a component"), "not x, y, z or w")
                        .hint(hint));
                }
            }
        }
        let too_many =
            || self.error(format!("{} components are too many", list.len()), "more than four").hint(hint);
        Swizzle::new(&list).ok_or_else(too_many)
    }

    fn unknown(&self, text: &str) -> Fault {
        let error = self.error(format!("`{text}` is not an operand"), "not understood");
        let body = text.trim_start_matches(['-', '+']);
        if body.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let float = body.contains('.') && !body.starts_with("0x");
            let right = if float { format!("f({text})") } else { format!("u({text}) or f({text})") };
            return error.hint(format!("an immediate says its type: {right}"));
        }
        match nearest(text, BUILTINS.iter().map(|b| b.0)) {
            Some(name) => error.hint(format!("did you mean {name}?")),
            None => error.hint(VALUES),
        }
    }

    /// `head` `(` was read; `rest` should be numbers and `)`.
    fn immediate(&self, head: &Token, rest: &[Token]) -> Result<Found, Fault> {
        let (float, count) = match head.text {
            "u" | "u1" => (false, 1),
            "u2" => (false, 2),
            "u3" => (false, 3),
            "u4" => (false, 4),
            "f" | "f1" => (true, 1),
            "f2" => (true, 2),
            "f3" => (true, 3),
            "f4" => (true, 4),
            other => {
                let error =
                    self.error_at(head, format!("`{other}` is not a kind of immediate"), "not understood");
                return Err(error.hint("immediates are u( ) u2( ) u3( ) u4( ) and f( ) f2( ) f3( ) f4( )"));
            }
        };
        let close = rest.iter().position(|t| t.kind == Kind::Close);
        let Some(close) = close else {
            return Err(self
                .error("the immediate is not closed", "`)` missing")
                .hint("put ) after the last value"));
        };
        if let Some(extra) = rest.get(close + 1) {
            let error =
                self.error_at(extra, format!("`{}` is not expected here", extra.text), "after the operand");
            return Err(error.hint("operands are separated by commas"));
        }
        let numbers = &rest[..close];
        if let Some(token) = numbers.iter().find(|t| t.kind != Kind::Word) {
            let error = self.error_at(token, format!("`{}` inside an immediate", token.text), "not a number");
            return Err(error.hint("separate the values with spaces"));
        }
        if numbers.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            let message = format!("{}( ) holds {count} value{plural}, not {}", head.text, numbers.len());
            let letter = if float { 'f' } else { 'u' };
            let hint =
                format!("{letter}( ) holds one value, {letter}2( ) to {letter}4( ) as many as they say");
            return Err(self.error(message, "wrong number of values").hint(hint));
        }
        let mut values = [0; 4];
        for (value, token) in values.iter_mut().zip(numbers) {
            *value = if float { self.float(token)? } else { self.integer(token)? };
        }
        Ok(Found::Imm { float, count: count as u8, values })
    }

    /// Decimal or 0x; negative numbers wrap.
    fn integer(&self, token: &Token) -> Result<u32, Fault> {
        let (negative, body) = match token.text.strip_prefix('-') {
            Some(body) => (true, body),
            None => (false, token.text),
        };
        let parsed = match body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
            Some(hex) if !hex.starts_with('+') => i128::from_str_radix(hex, 16),
            _ => body.parse::<i128>(),
        };
        let value = match parsed {
            Ok(v) if !body.starts_with('-') => {
                if negative {
                    -v
                } else {
                    v
                }
            }
            _ => {
                let error =
                    self.error_at(token, format!("`{}` is not an integer", token.text), "not an integer");
                let hint = match token.text.parse::<f32>() {
                    Ok(_) => format!("a float is written f({})", token.text),
                    Err(_) => "write decimal digits, or hexadecimal ones after 0x".to_string(),
                };
                return Err(error.hint(hint));
            }
        };
        if (-(1 << 31)..1 << 32).contains(&value) {
            return Ok(value as u32);
        }
        let error = self.error_at(token, format!("{} does not fit 32 bits", token.text), "out of range");
        Err(error.hint("values reach from -2147483648 to 4294967295"))
    }

    /// A decimal number, or 0x and the bits of one.
    fn float(&self, token: &Token) -> Result<u32, Fault> {
        if let Some(hex) = token.text.strip_prefix("0x")
            && !hex.starts_with(['+', '-'])
            && let Ok(bits) = u32::from_str_radix(hex, 16)
        {
            return Ok(bits);
        }
        token.text.parse::<f32>().map(f32::to_bits).map_err(|_| {
            let error = self.error_at(token, format!("`{}` is not a number", token.text), "not a number");
            error.hint("write 1.5, -2e3 or inf; 0x3fc00000 gives the bits")
        })
    }
}
