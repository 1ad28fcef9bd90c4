//! Expressions where a run stands: what names mean there, seen from one lane of one path of one wave.

use crate::error::DebugError;
use crate::expr::{self, Expr, Value};
use crate::launch::{LaunchInfo, type_of};
use std::cell::RefCell;
use wb_isa::lanes::bits;
use wb_jobs::data::Element;
use wb_objects::codeobject::ArgKind;
use wb_sim::{Inspected, PathSeen, WaveSeen};

/// Names of the debugger's own, with what they are.
pub const NAMES: [(&str, &str); 15] = [
    ("wave", "number of the wave"),
    ("path", "number of the path in its wave"),
    ("lane", "number of the lane"),
    ("group", "number of the group"),
    ("wave_in_group", "number of the wave in its group"),
    ("core", "core of the wave"),
    ("pc", "address of the next instruction, as listed"),
    ("line", "source line of the next instruction"),
    ("active", "lanes that are on, one bit each"),
    ("mask", "lanes of the path"),
    ("live", "lanes of the wave that have not ended"),
    ("depth", "entries of the divergence stack"),
    ("issued", "instructions that the wave has executed"),
    ("step", "instructions that the launch has executed"),
    ("launch", "number of the launch"),
];

/// Registers by name.
type Registers = Vec<(String, u64)>;

/// One lane's view of a run.
pub struct Context<'a> {
    pub now: &'a dyn Inspected,
    pub info: &'a LaunchInfo<'a>,
    pub wave: WaveSeen,
    pub path: PathSeen,
    pub lane: u32,
    /// The registers of the lane looked at last.
    registers: RefCell<Option<(u32, Registers)>>,
}

impl<'a> Context<'a> {
    pub fn new(
        now: &'a dyn Inspected,
        info: &'a LaunchInfo<'a>,
        (wave, path): (u32, usize),
        lane: u32,
    ) -> Result<Context<'a>, DebugError> {
        let wave = now.wave(wave).ok_or_else(|| no_wave(now, wave))?;
        let path = now.path(wave.wave, path).ok_or_else(|| {
            let has: Vec<String> = now.paths(wave.wave).iter().map(|p| p.path.to_string()).collect();
            DebugError::new(format!("wave {} has no path {path}", wave.wave))
                .hint(format!("it has {}", has.join(" ")))
        })?;
        Ok(Context { now, info, wave, path, lane, registers: RefCell::new(None) })
    }

    /// The same for another lane.
    pub fn in_lane(&self, lane: u32) -> Context<'a> {
        let (now, info, wave, path) = (self.now, self.info, self.wave, self.path);
        Context { now, info, wave, path, lane, registers: RefCell::new(None) }
    }

    pub fn registers(&self) -> Vec<(String, u64)> {
        self.now.registers(self.wave.wave, self.path.path, self.lane)
    }

    /// A register as the instruction set names it, without its marks, or both halves of a pair (`exec`).
    pub fn register(&self, name: &str, lane: u32) -> Option<u64> {
        let mut kept = self.registers.borrow_mut();
        if kept.as_ref().is_none_or(|(of, _)| *of != lane) {
            *kept = Some((lane, self.now.registers(self.wave.wave, self.path.path, lane)));
        }
        let all = &kept.as_ref()?.1;
        let find = |name: &str| {
            let same = |r: &&(String, u64)| r.0.trim_start_matches(['%', '@']) == name;
            all.iter().find(same).map(|r| r.1)
        };
        find(name).or_else(|| {
            let (low, high) = (find(&format!("{name}_lo"))?, find(&format!("{name}_hi"))?);
            Some(high << 32 | low)
        })
    }

    pub fn read(&self, addr: u64, bytes: u64) -> Result<&'a [u8], DebugError> {
        self.now.memory().read(addr, bytes).map_err(|fault| {
            DebugError::new(fault.to_string()).hint("`info buffers` lists what is in memory")
        })
    }

    fn own(&self, name: &str) -> Option<i128> {
        let (wave, path) = (&self.wave, &self.path);
        Some(match name {
            "wave" => wave.wave.into(),
            "path" => path.path as i128,
            "lane" => self.lane.into(),
            "group" => wave.group.into(),
            "wave_in_group" => wave.wave_in_group.into(),
            "core" => wave.core.into(),
            "pc" => self.info.code.at(path.pc).map_or(0, |l| l.addr).into(),
            "line" => self.info.code.place(path.pc).map_or(0, |p| p.1).into(),
            "active" => path.active.into(),
            "mask" => path.mask.into(),
            "live" => wave.live.into(),
            "depth" => wave.depth as i128,
            "issued" => wave.issued.into(),
            "step" => self.now.executed().into(),
            "launch" => self.info.number as i128,
            _ => return None,
        })
    }

    fn name(&self, name: &str) -> Result<Value, DebugError> {
        if let Some(number) = self.own(name) {
            return Ok(Value::Int(number));
        }
        if let Some(bits) = self.register(name, self.lane) {
            return Ok(Value::Int(bits.into()));
        }
        let values = self.info.arguments().filter(|(_, a, _)| a.kind == ArgKind::Value);
        let argument = values.into_iter().find(|(own, ..)| own == name);
        if let Some((element, bytes)) = argument.and_then(|(_, a, bytes)| Some((type_of(a)?, bytes))) {
            return Ok(expr::of_bytes(bytes, element));
        }
        let buffer = self.info.buffer(name).map_err(|_| self.unknown(name))?;
        Ok(expr::of_bytes(self.read(buffer.addr, buffer.element.bytes())?, buffer.element))
    }

    fn unknown(&self, name: &str) -> DebugError {
        let registers = self.registers();
        let some = |n: usize| registers.get(n).map_or("", |r| r.0.as_str());
        let buffers: Vec<&str> = self.info.buffers.iter().map(|b| b.name.as_str()).collect();
        let buffers = if buffers.is_empty() { "none".to_owned() } else { buffers.join(" ") };
        DebugError::new(format!("`{name}` is no register, buffer, argument or name")).hint(format!(
            "registers: {} {} … (`regs`); buffers: {buffers}; names: `help names`",
            some(0),
            some(1)
        ))
    }

    pub fn eval(&self, e: &Expr) -> Result<Value, DebugError> {
        match e {
            Expr::Number(value) => Ok(*value),
            Expr::Name(name) => self.name(name),
            Expr::Index(name, index) => {
                let index = self.eval(index)?.unsigned()?;
                let lanes = self.info.code.lanes;
                if self.own(name).is_none() && self.register(name, self.lane).is_some() {
                    let lane = u32::try_from(index).ok().filter(|l| *l < lanes);
                    let lane = lane.ok_or_else(|| {
                        DebugError::new(format!("{name}[{index}]: there is no lane {index}"))
                            .hint(format!("lanes are 0 to {}", lanes - 1))
                    })?;
                    return Ok(Value::Int(self.register(name, lane).unwrap_or(0).into()));
                }
                let buffer = self.info.buffer(name).map_err(|_| self.unknown(name))?;
                let count = buffer.bytes / buffer.element.bytes();
                if index >= count {
                    return Err(DebugError::new(format!("{name}[{index}]: {name} has {count} elements")));
                }
                let addr = buffer.addr + index * buffer.element.bytes();
                Ok(expr::of_bytes(self.read(addr, buffer.element.bytes())?, buffer.element))
            }
            Expr::Pair(name, low, high) => {
                let part = |n: u32| {
                    let name = format!("{name}{n}");
                    self.register(&name, self.lane).ok_or_else(|| self.unknown(&name))
                };
                let first = part(*low)?;
                Ok(Value::Int(
                    if low == high { first } else { part(*high)? << 32 | first & 0xffff_ffff }.into(),
                ))
            }
            Expr::Unary(operator, a) => expr::unary(*operator, self.eval(a)?),
            // What decides early need not make sense further on: `lane < n && x[lane] == 0`.
            Expr::Binary(expr::Binary::And, a, b) => {
                let truth = self.eval(a)?.is_true() && self.eval(b)?.is_true();
                Ok(Value::Int(truth.into()))
            }
            Expr::Binary(expr::Binary::Or, a, b) => {
                let truth = self.eval(a)?.is_true() || self.eval(b)?.is_true();
                Ok(Value::Int(truth.into()))
            }
            Expr::Binary(operator, a, b) => expr::binary(*operator, self.eval(a)?, self.eval(b)?),
            Expr::As(a, element) => Ok(expr::cast(self.eval(a)?, *element)),
            Expr::Memory(a, element) => {
                let addr = self.eval(a)?.unsigned()?;
                Ok(expr::of_bytes(self.read(addr, element.bytes())?, *element))
            }
        }
    }

    /// Address of what an expression names in memory, with its type: an element of a buffer, `*address`, or a whole buffer.
    pub fn address(&self, e: &Expr) -> Result<(u64, u64, Element), DebugError> {
        match e {
            Expr::Index(name, index) => {
                let buffer = self.info.buffer(name)?;
                let (index, size) = (self.eval(index)?.unsigned()?, buffer.element.bytes());
                if index >= buffer.bytes / size {
                    let count = buffer.bytes / size;
                    return Err(DebugError::new(format!("{name}[{index}]: {name} has {count} elements")));
                }
                Ok((buffer.addr + index * size, size, buffer.element))
            }
            Expr::Name(name) => {
                let buffer = self.info.buffer(name)?;
                Ok((buffer.addr, buffer.bytes, buffer.element))
            }
            Expr::Memory(a, element) => Ok((self.eval(a)?.unsigned()?, element.bytes(), *element)),
            Expr::As(inner, element) => Ok((self.address(inner)?.0, element.bytes(), *element)),
            Expr::Number(value) => Ok((value.unsigned()?, 4, Element::U32)),
            Expr::Pair(..) | Expr::Unary(..) | Expr::Binary(..) => {
                Err(DebugError::new("that is no place in memory")
                    .hint("a place looks like x[5], x, 0x10000 or *(s[4:5] + 8)"))
            }
        }
    }

    /// The first lane for which a condition holds: of those that are on, or of the path if none is.
    pub fn lane_where(&self, e: &Expr) -> Result<Option<u32>, DebugError> {
        let lanes = if self.path.active != 0 { self.path.active } else { self.path.mask };
        let scalar = |n: &str| n != "lane" && (self.own(n).is_some() || self.info.code.is_scalar(n));
        let first = bits(lanes).next().unwrap_or(0);
        if e.names().iter().all(|n| scalar(n)) {
            return Ok(self.in_lane(first).eval(e)?.is_true().then_some(first));
        }
        for lane in bits(lanes) {
            if self.in_lane(lane).eval(e)?.is_true() {
                return Ok(Some(lane));
            }
        }
        Ok(None)
    }
}

fn no_wave(now: &dyn Inspected, wave: u32) -> DebugError {
    let there: Vec<String> = now.waves().iter().take(16).map(|w| w.wave.to_string()).collect();
    let hint = match there.is_empty() {
        true => "the launch is over; go back with `back` or `reverse-continue`".to_owned(),
        false => format!("waves that run now: {}", there.join(" ")),
    };
    DebugError::new(format!("wave {wave} has not started or has ended")).hint(hint)
}
