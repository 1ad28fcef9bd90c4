//! Expressions of conditions and of `print`: numbers, registers, elements of buffers, and operators as C has them. Parsed once,
//! evaluated where a run stands.

use crate::error::DebugError;
use wb_jobs::data::Element;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Number(Value),
    /// A register, a buffer with one element, or a name of the debugger, `wave`.
    Name(String),
    /// A register in a certain lane, or an element of a buffer.
    Index(String, Box<Expr>),
    /// Registers that follow each other as one number: `s[4:5]`.
    Pair(String, u32, u32),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// The bits as another type.
    As(Box<Expr>, Element),
    /// What memory has at an address: `*addr`, four bytes unless a type says otherwise.
    Memory(Box<Expr>, Element),
}

/// What an expression comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Int(i128),
    Float(f64),
}

impl Value {
    pub fn is_true(self) -> bool {
        match self {
            Value::Int(n) => n != 0,
            Value::Float(x) => x != 0.0,
        }
    }

    pub fn float(self) -> f64 {
        match self {
            Value::Int(n) => n as f64,
            Value::Float(x) => x,
        }
    }

    /// As an address, an index or a lane.
    pub fn unsigned(self) -> Result<u64, DebugError> {
        match self {
            Value::Int(n) => {
                u64::try_from(n).map_err(|_| DebugError::new(format!("{n} is no address or index")))
            }
            Value::Float(x) => Err(DebugError::new(format!("{x} is no whole number"))),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Int(n) if *n > 9 => write!(f, "{n} ({n:#x})"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Differs,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Left,
    Right,
    Add,
    Subtract,
    Multiply,
    Divide,
    Rest,
}

/// Operators by how they are written and how strongly they bind; longer ones first, so that `<=` is not `<`.
const OPERATORS: [(&str, Binary, u8); 18] = [
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("<<", Binary::Left, 8),
    (">>", Binary::Right, 8),
    ("==", Binary::Equal, 6),
    ("!=", Binary::Differs, 6),
    ("<=", Binary::AtMost, 7),
    (">=", Binary::AtLeast, 7),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("<", Binary::Less, 7),
    (">", Binary::Greater, 7),
    ("+", Binary::Add, 9),
    ("-", Binary::Subtract, 9),
    ("*", Binary::Multiply, 10),
    ("/", Binary::Divide, 10),
    ("%", Binary::Rest, 10),
];

/// Parentheses and signs within each other.
const DEEPEST: u32 = 64;

impl Expr {
    pub fn parse(text: &str) -> Result<Expr, DebugError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let expr = parser.binary(0)?;
        match parser.rest() {
            "" => Ok(expr),
            rest => Err(parser.error(&format!("`{rest}` is too much"))),
        }
    }

    /// Names that it mentions without saying a lane.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Expr::Number(_) => Vec::new(),
            Expr::Name(name) | Expr::Pair(name, ..) => vec![name],
            Expr::Index(_, inner) | Expr::Unary(_, inner) | Expr::As(inner, _) | Expr::Memory(inner, _) => {
                inner.names()
            }
            Expr::Binary(_, a, b) => a.names().into_iter().chain(b.names()).collect(),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text[self.at..].trim_start()
    }

    fn error(&self, what: &str) -> DebugError {
        let hint =
            "expressions look like v3[5] == 0 && s4 > 2, x[10] as f32, exec & 0xff, wave == 3 && lane == 7";
        DebugError::new(format!("in `{}`: {what}", self.text.trim())).hint(hint)
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest();
        let word = token.bytes().all(|b| b.is_ascii_alphanumeric());
        let ends = !word || !rest[token.len().min(rest.len())..].starts_with(is_word);
        if !rest.starts_with(token) || !ends {
            return false;
        }
        self.at = self.text.len() - rest.len() + token.len();
        true
    }

    fn need(&mut self, token: &str) -> Result<(), DebugError> {
        if self.take(token) {
            Ok(())
        } else {
            Err(self.error(&format!("`{token}` is missing before `{}`", self.rest())))
        }
    }

    fn binary(&mut self, least: u8) -> Result<Expr, DebugError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("it nests too deeply"));
        }
        let mut left = self.unary()?;
        loop {
            let rest = self.rest();
            let found = OPERATORS.iter().find(|(token, ..)| rest.starts_with(token));
            let Some((token, operator, strength)) = found.filter(|o| o.2 > least) else { break };
            self.at = self.text.len() - rest.len() + token.len();
            let right = self.binary(*strength)?;
            left = Expr::Binary(*operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, DebugError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("it nests too deeply"));
        }
        let inner = if self.take("-") {
            Expr::Unary(Unary::Minus, Box::new(self.unary()?))
        } else if self.take("!") {
            Expr::Unary(Unary::Not, Box::new(self.unary()?))
        } else if self.take("~") {
            Expr::Unary(Unary::Complement, Box::new(self.unary()?))
        } else if self.take("*") {
            match self.unary()? {
                // `*addr as f32` is a number of that type in memory.
                Expr::As(addr, element) => Expr::Memory(addr, element),
                addr => Expr::Memory(Box::new(addr), Element::U32),
            }
        } else {
            let mut primary = self.primary()?;
            while self.take("as") {
                primary = Expr::As(Box::new(primary), self.element()?);
            }
            primary
        };
        self.depth -= 1;
        Ok(inner)
    }

    fn element(&mut self) -> Result<Element, DebugError> {
        let name = self.word();
        Element::parse(name).ok_or_else(|| {
            DebugError::new(format!("there is no type `{name}`")).hint(format!("types: {}", Element::NAMES))
        })
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.at = self.text.len() - rest.len() + end;
        &rest[..end]
    }

    fn primary(&mut self) -> Result<Expr, DebugError> {
        if self.take("(") {
            let inner = self.binary(0)?;
            self.need(")")?;
            return Ok(inner);
        }
        let rest = self.rest();
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        // HARP writes registers as %r3 and predicates as @p0.
        let mark = rest.starts_with(['%', '@', '$']);
        if mark {
            self.at = self.text.len() - rest.len() + 1;
        }
        let name = self.word().to_owned();
        if name.is_empty() {
            let what = if rest.is_empty() {
                "something is missing at the end".to_owned()
            } else {
                format!("`{rest}` is not understood")
            };
            return Err(self.error(&what));
        }
        if !self.take("[") {
            return Ok(Expr::Name(name));
        }
        let index = self.binary(0)?;
        if self.take(":") {
            let last = self.binary(0)?;
            self.need("]")?;
            return match (index, last) {
                (Expr::Number(Value::Int(a)), Expr::Number(Value::Int(b)))
                    if (0..512).contains(&a) && (a..a + 2).contains(&b) =>
                {
                    Ok(Expr::Pair(name, a as u32, b as u32))
                }
                _ => Err(self.error("a pair of registers looks like s[4:5]")),
            };
        }
        self.need("]")?;
        Ok(Expr::Index(name, Box::new(index)))
    }

    fn number(&mut self) -> Result<Expr, DebugError> {
        let rest = self.rest();
        let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
        if let Some(digits) = hex {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            let value = u64::from_str_radix(&digits[..end], 16)
                .map_err(|_| self.error(&format!("`0x{}` is no number of 64 bits", &digits[..end])))?;
            self.at = self.text.len() - digits.len() + end;
            return Ok(Expr::Number(Value::Int(value.into())));
        }
        let part = |c: char| c.is_ascii_digit() || c == '.';
        let mut end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        // An exponent belongs to a number, `..` to a range.
        if let Some(dots) = rest[..end].find("..") {
            end = dots;
        }
        if rest[..end].contains('.') && rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let digits = rest[end + 1 + sign..].find(|c: char| !c.is_ascii_digit());
            end = digits.map_or(rest.len(), |d| end + 1 + sign + d);
        }
        let text = &rest[..end];
        let value = match text.contains('.') {
            true => text.parse().map(Value::Float).ok(),
            false => text.parse::<u64>().ok().map(|n| Value::Int(n.into())),
        };
        let value = value.ok_or_else(|| self.error(&format!("`{text}` is no number")))?;
        self.at = self.text.len() - rest.len() + end;
        Ok(Expr::Number(value))
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What `a op b` comes to; floats if one of them is one.
pub fn binary(operator: Binary, a: Value, b: Value) -> Result<Value, DebugError> {
    let truth = |t: bool| Ok(Value::Int(t.into()));
    if let (Value::Int(x), Value::Int(y)) = (a, b) {
        let shift = || {
            u32::try_from(y).ok().filter(|n| *n < 64).ok_or_else(|| DebugError::new("shifts go from 0 to 63"))
        };
        let none = || DebugError::new("division by zero");
        let fits =
            |n: Option<i128>| n.map(Value::Int).ok_or_else(|| DebugError::new("the number is too large"));
        return match operator {
            Binary::Or => truth(x != 0 || y != 0),
            Binary::And => truth(x != 0 && y != 0),
            Binary::BitOr => Ok(Value::Int(x | y)),
            Binary::BitXor => Ok(Value::Int(x ^ y)),
            Binary::BitAnd => Ok(Value::Int(x & y)),
            Binary::Equal => truth(x == y),
            Binary::Differs => truth(x != y),
            Binary::Less => truth(x < y),
            Binary::AtMost => truth(x <= y),
            Binary::Greater => truth(x > y),
            Binary::AtLeast => truth(x >= y),
            Binary::Left => fits(x.checked_mul(1 << shift()?)),
            Binary::Right => Ok(Value::Int(x >> shift()?)),
            Binary::Add => fits(x.checked_add(y)),
            Binary::Subtract => fits(x.checked_sub(y)),
            Binary::Multiply => fits(x.checked_mul(y)),
            Binary::Divide => fits(Some(x.checked_div(y).ok_or_else(none)?)),
            Binary::Rest => fits(Some(x.checked_rem(y).ok_or_else(none)?)),
        };
    }
    let (x, y) = (a.float(), b.float());
    match operator {
        Binary::Or => truth(x != 0.0 || y != 0.0),
        Binary::And => truth(x != 0.0 && y != 0.0),
        Binary::Equal => truth(x == y),
        Binary::Differs => truth(x != y),
        Binary::Less => truth(x < y),
        Binary::AtMost => truth(x <= y),
        Binary::Greater => truth(x > y),
        Binary::AtLeast => truth(x >= y),
        Binary::Add => Ok(Value::Float(x + y)),
        Binary::Subtract => Ok(Value::Float(x - y)),
        Binary::Multiply => Ok(Value::Float(x * y)),
        Binary::Divide => Ok(Value::Float(x / y)),
        Binary::BitOr | Binary::BitXor | Binary::BitAnd | Binary::Left | Binary::Right | Binary::Rest => {
            Err(DebugError::new("bits of a float: write `as u32` behind it"))
        }
    }
}

pub fn unary(operator: Unary, a: Value) -> Result<Value, DebugError> {
    match (operator, a) {
        (Unary::Minus, Value::Int(n)) => Ok(Value::Int(n.wrapping_neg())),
        (Unary::Minus, Value::Float(x)) => Ok(Value::Float(-x)),
        (Unary::Not, a) => Ok(Value::Int((!a.is_true()).into())),
        (Unary::Complement, Value::Int(n)) => Ok(Value::Int(!n)),
        (Unary::Complement, Value::Float(_)) => {
            Err(DebugError::new("bits of a float: write `as u32` behind it"))
        }
    }
}

/// The bits of a value as another type.
pub fn cast(a: Value, element: Element) -> Value {
    let bits = match a {
        Value::Int(n) => n as u64,
        Value::Float(x) if element.is_float() => return Value::Float(x),
        Value::Float(x) => u64::from((x as f32).to_bits()),
    };
    of_bytes(&bits.to_le_bytes(), element)
}

/// The element at the start of `bytes`.
pub fn of_bytes(bytes: &[u8], element: Element) -> Value {
    if element.is_float() {
        return Value::Float(element.value(bytes));
    }
    element.show(bytes).parse().map_or(Value::Int(0), Value::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        fn eval(e: &Expr) -> Result<Value, DebugError> {
            match e {
                Expr::Number(v) => Ok(*v),
                Expr::Unary(o, a) => unary(*o, eval(a)?),
                Expr::Binary(o, a, b) => binary(*o, eval(a)?, eval(b)?),
                Expr::As(a, t) => Ok(cast(eval(a)?, *t)),
                Expr::Name(n) | Expr::Index(n, _) | Expr::Pair(n, ..) => {
                    Err(DebugError::new(format!("name {n}")))
                }
                Expr::Memory(..) => Err(DebugError::new("memory")),
            }
        }
        match Expr::parse(text).and_then(|e| eval(&e)) {
            Ok(v) => v.to_string(),
            Err(e) => e.message,
        }
    }

    #[test]
    fn operators_bind_as_in_c() {
        assert_eq!(value("1 + 2 * 3"), "7");
        assert_eq!(value("10 - 3 - 2"), "5");
        assert_eq!(value("1 << 3 | 1"), "9");
        assert_eq!(value("1 | 2 == 2"), "1");
        assert_eq!(value("-1 < 0 && !(2 >= 3) || 0"), "1");
        assert_eq!(value("0x10 % 7"), "2");
        assert_eq!(value("~0 & 0xff"), "255 (0xff)");
        assert_eq!(value("1065353216 as f32"), "1.0");
        assert_eq!(value("0xffffffff as i32"), "-1");
        assert_eq!(value("1.5 + 1"), "2.5");
        assert_eq!(value("1.0e2 / 3 > 33.3"), "1");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(value("1 +"), "in `1 +`: something is missing at the end");
        assert_eq!(value("(1"), "in `(1`: `)` is missing before ``");
        assert_eq!(value("1 2"), "in `1 2`: `2` is too much");
        assert_eq!(value("1 / 0"), "division by zero");
        assert_eq!(value("1 << 99"), "shifts go from 0 to 63");
        assert_eq!(value("5 as f31"), "there is no type `f31`");
        assert_eq!(value("s[4:9]"), "in `s[4:9]`: a pair of registers looks like s[4:5]");
        assert!(value(&"(".repeat(100_000)).contains("too deeply"));
        assert!(value(&"-".repeat(100_000)).contains("too deeply"));
        assert!(value(&"*".repeat(100_000)).contains("too deeply"));
        assert_eq!(
            value("0xfffffffffffffffff"),
            "in `0xfffffffffffffffff`: `0xfffffffffffffffff` is no number of 64 bits"
        );
    }

    #[test]
    fn names_and_lanes_are_told_apart() {
        assert_eq!(
            Expr::parse("v3[5]").expect("parses"),
            Expr::Index("v3".into(), Box::new(Expr::Number(Value::Int(5))))
        );
        assert_eq!(Expr::parse("%r3").expect("parses"), Expr::Name("r3".into()));
        assert_eq!(Expr::parse("s[4:5]").expect("parses"), Expr::Pair("s".into(), 4, 5));
        assert_eq!(Expr::parse("asx == 1").expect("parses").names(), ["asx"]);
        assert!(matches!(Expr::parse("*0x100 as f32").expect("parses"), Expr::Memory(_, Element::F32)));
    }
}
