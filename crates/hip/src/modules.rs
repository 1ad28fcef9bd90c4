//! Device code the program brought: fat binaries of its own, registered before `main`, and modules it loads. Code goes to
//! the device when it is first used; functions and variables are found by the addresses or names the program knows.

use crate::errors::{Code, Outcome, fatal};
use crate::fatbin;
use crate::runtime::Runtime;
use crate::state::{Function, Kind, Source, Variable};
use wavebound::device::{Module, explicit};
use wavebound::jobs::object::ObjectFile;
use wavebound::objects::codeobject::Kernel;
use wb_host::describe;

/// Handles are small numbers that are no addresses.
const FIRST_FUNCTION: u64 = 0x1000;
const FIRST_MODULE: u64 = 0x100_0000;

impl Runtime {
    /// Takes in a fat binary; returns its number.
    pub fn register_binary(&mut self, name: &str, object: Result<Vec<u8>, String>) -> usize {
        self.modules.sources.push(Source {
            name: name.to_owned(),
            object,
            module: None,
            managed: Vec::new(),
        });
        self.modules.sources.len() - 1
    }

    pub fn register_function(&mut self, source: usize, stub: u64, kernel: &str) {
        self.modules.functions.insert(stub, Function { source, kernel: kernel.to_owned() });
    }

    pub fn register_variable(&mut self, source: usize, shadow: u64, name: &str, bytes: u64) {
        self.modules.variables.insert(shadow, Variable { source, name: name.to_owned(), bytes });
    }

    /// Makes a managed variable; returns its address.
    pub fn register_managed(&mut self, source: usize, name: &str, init: &[u8]) -> Outcome<u64> {
        let addr = self.malloc(init.len().max(1) as u64, Kind::Managed, 0)?;
        self.host.device.write(addr, init).map_err(|_| Code::INVALID_VALUE)?;
        if let Some(source) = self.modules.sources.get_mut(source) {
            source.managed.push((name.to_owned(), addr));
        }
        Ok(addr)
    }

    /// Puts the code of a source on the device, once.
    fn load(&mut self, number: usize) -> Outcome {
        let Some(source) = self.modules.sources.get(number) else { return Err(Code::INVALID_HANDLE.into()) };
        if source.module.is_some() {
            return Ok(());
        }
        let name = source.name.clone();
        let bytes = match &source.object {
            Ok(bytes) => bytes.clone(),
            Err(why) => return fatal(format!("{name}: {why}")),
        };
        let file = match ObjectFile::marked(&name, &bytes, &self.host.options.split()) {
            Ok(file) => file,
            Err(e) => return fatal(describe(&e.into())),
        };
        let module = match self.host.device.place(&name, file.object, file.source) {
            Ok(module) => module,
            Err(e) => return fatal(format!("{name}: {e}")),
        };
        let source = &mut self.modules.sources[number];
        for (variable, addr) in &source.managed {
            let place = module.object.variables.iter().find(|v| v.0 == *variable && v.2 >= 8);
            if let Some((_, at, _)) = place
                && let Err(e) = self.host.device.write(module.base + at, &addr.to_le_bytes())
            {
                return fatal(format!("{name}: managed variable {variable}: {e}"));
            }
        }
        source.module = Some(module);
        Ok(())
    }

    /// Loads a module of the program's; returns its handle.
    pub fn load_module(&mut self, name: &str, bytes: &[u8]) -> Outcome<u64> {
        let object = fatbin::code_object(bytes, fatbin::target(&self.host.device.machine));
        if let Err(why) = &object {
            eprintln!("wavebound: {name}: {why}");
            return Err(Code::INVALID_IMAGE.into());
        }
        let number = self.register_binary(name, object);
        self.load(number)?;
        Ok(FIRST_MODULE + number as u64)
    }

    pub fn unload_module(&mut self, handle: u64) -> Outcome {
        let number = self.module_number(handle)?;
        if let Some(module) = self.modules.sources[number].module.take() {
            self.host.device.unload(&module);
        }
        Ok(())
    }

    fn module_number(&self, handle: u64) -> Outcome<usize> {
        let number = handle.checked_sub(FIRST_MODULE).map(|n| n as usize);
        let known = |n: &usize| self.modules.sources.get(*n).is_some_and(|s| s.module.is_some());
        Ok(number.filter(known).ok_or(Code::INVALID_HANDLE)?)
    }

    /// A handle for a kernel of a module.
    pub fn module_function(&mut self, handle: u64, kernel: &str) -> Outcome<u64> {
        let source = self.module_number(handle)?;
        let module = self.modules.sources[source].module.as_ref().ok_or(Code::INVALID_HANDLE)?;
        if kernel.is_empty() || module.kernel(kernel).is_err() {
            return Err(Code::NOT_FOUND.into());
        }
        let function = Function { source, kernel: kernel.to_owned() };
        let known = self.modules.handles.iter().position(|f| *f == function);
        let position = known.unwrap_or_else(|| {
            self.modules.handles.push(function);
            self.modules.handles.len() - 1
        });
        Ok(FIRST_FUNCTION + position as u64)
    }

    /// Address and bytes of a variable of a module.
    pub fn module_variable(&mut self, handle: u64, name: &str) -> Outcome<(u64, u64)> {
        let source = self.module_number(handle)?;
        self.variable_in(source, name)?.ok_or_else(|| Code::NOT_FOUND.into())
    }

    fn variable_in(&mut self, source: usize, name: &str) -> Outcome<Option<(u64, u64)>> {
        self.load(source)?;
        let Some(module) = &self.modules.sources[source].module else { return Ok(None) };
        let found = module.object.variables.iter().find(|v| v.0 == name);
        Ok(found.map(|(_, at, bytes)| (module.base + at, *bytes)))
    }

    /// Address and bytes of a variable by the address of its shadow on the host.
    pub fn symbol(&mut self, shadow: u64) -> Outcome<(u64, u64)> {
        let v = self.modules.variables.get(&shadow).cloned().ok_or(Code::INVALID_SYMBOL)?;
        let (addr, bytes) = self.variable_in(v.source, &v.name)?.ok_or(Code::INVALID_SYMBOL)?;
        let bytes = if bytes == 0 { v.bytes } else { bytes };
        // A size that the file does not give comes from the host's half of the program.
        self.check(addr, bytes, true)?;
        Ok((addr, bytes))
    }

    /// A kernel by the address of its stub, or by handle.
    pub fn function(&self, key: u64) -> Outcome<Function> {
        let handle = || self.modules.handles.get(key.checked_sub(FIRST_FUNCTION)? as usize);
        let found = self.modules.functions.get(&key).or_else(handle);
        Ok(found.cloned().ok_or(Code::INVALID_DEVICE_FUNCTION)?)
    }

    /// The module and the kernel behind a function; the code is on the device then.
    pub fn kernel(&mut self, function: &Function) -> Outcome<(Module, Kernel)> {
        self.load(function.source)?;
        let source = &self.modules.sources[function.source];
        let Some(module) = &source.module else { return Err(Code::INVALID_DEVICE_FUNCTION.into()) };
        match module.kernel(&function.kernel) {
            Ok(kernel) => Ok((module.clone(), kernel.clone())),
            Err(e) => fatal(format!("{}: {e}", source.name)),
        }
    }

    /// Where the explicit arguments of a function lie in its argument segment: (offset, bytes).
    pub fn arguments(&mut self, key: u64) -> Outcome<Vec<(u64, usize)>> {
        let function = self.function(key)?;
        let (_, kernel) = self.kernel(&function)?;
        Ok(explicit(&kernel).map(|a| (u64::from(a.offset), a.size as usize)).collect())
    }
}
