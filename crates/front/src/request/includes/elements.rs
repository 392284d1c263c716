//! Executes elements: `echo`, `set`, `config`, `printenv`, `fsize`, `flastmod`; the others are in files of their own.

use std::borrow::Cow;
use std::fmt::Display;

use super::attributes::{decoded, unknown, with_values};
use super::clock;
use super::looked_up::LookedUpFile;
use super::page::Page;
use super::values::{Fault, fault};
use super::variables::{PageValue, TooMany};
use config::LogLevel;
use ssi::codings::{self, CodingFault, MAX_CODED, MAX_CODINGS};
use ssi::entities;
use ssi::format;
use ssi::parser::{Argument, Element};
use ssi::substitute::Undefined;

impl Page {
    /// Executes an element, unless it is in text that is left out.
    pub async fn execute(&mut self, element: Element, is_affordable: bool) {
        let has_effect = self.conditions.printing || is_condition(&element.name);
        if !has_effect {
            return;
        }
        let done = match element.fault {
            Some(why) => Err(fault(why)),
            None if !is_affordable => Err(fault("the page's elements exceed the work limit of one request")),
            None => {
                self.prepare(&element).await;
                self.execute_valid(&element).await
            }
        };
        if let Err(why) = done {
            self.fail(format_args!("{}: {why}", String::from_utf8_lossy(&element.name))).await;
        }
    }

    async fn execute_valid(&mut self, element: &Element) -> Result<(), Fault> {
        let Element { name, arguments, .. } = element;
        match &**name {
            b"if" => self.execute_if(arguments).await,
            b"elif" => self.execute_elif(arguments).await,
            b"else" => self.execute_else(arguments),
            b"endif" => self.execute_endif(arguments),
            b"comment" => Ok(()),
            b"printenv" => self.print_variables(arguments).await,
            _ if arguments.is_empty() && is_known(name) => Err(fault("an attribute is missing")),
            b"echo" => self.echo(arguments).await,
            b"set" if arguments.len() < 2 => Err(fault("an attribute is missing")),
            b"set" => self.set(arguments),
            b"config" => self.configure(arguments),
            b"fsize" | b"flastmod" => self.print_file(name, arguments).await,
            b"include" => self.include(arguments).await,
            b"exec" => self.exec(arguments).await,
            b"perl" => self.perl(arguments).await,
            _ => Err(fault("there is no such element")),
        }
    }

    async fn echo(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        let (mut encoding, mut decoding) = (Cow::Borrowed(&b"entity"[..]), Cow::Borrowed(&b"none"[..]));
        for (name, value) in with_values(arguments) {
            let value = decoded(value);
            match name {
                b"encoding" => encoding = value,
                b"decoding" => decoding = value,
                b"var" => {
                    let name = self.substituted(&value, Undefined::Empty)?;
                    let text = match self.variable(&name) {
                        Some(text) => self.coded(&decoding, &encoding, text)?,
                        None => self.undefined_echo.clone(),
                    };
                    self.whole.spend(text.len());
                    self.whole.output.write(&text).await;
                }
                other => return Err(unknown(other)),
            }
        }
        Ok(())
    }

    fn set(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        let (mut encoding, mut decoding) = (&b"none"[..], &b"none"[..]);
        let mut variable = None;
        for (name, value) in with_values(arguments) {
            match name {
                b"encoding" => encoding = value,
                b"decoding" => decoding = value,
                b"var" => variable = Some(self.substituted(&decoded(value), Undefined::Empty)?),
                b"value" => {
                    let variable = variable.as_ref().ok_or_else(|| fault("var must precede value"))?;
                    let text = self.substituted(value, Undefined::Empty)?;
                    let text = self.coded(decoding, encoding, text)?;
                    self.whole.spend(text.len());
                    let stored = self.whole.variables.borrow_mut().set(variable, PageValue::Text(text));
                    stored.map_err(|TooMany| fault("the page's variables need more than 512 KB"))?;
                }
                other => return Err(unknown(other)),
            }
        }
        Ok(())
    }

    fn configure(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        for (name, value) in with_values(arguments) {
            let value = self.substituted(value, Undefined::Empty)?;
            match name {
                b"errmsg" => self.error_message = value,
                b"echomsg" => self.undefined_echo = value,
                b"timefmt" => {
                    self.time_format = value;
                    self.format_times();
                }
                b"sizefmt" => match &*value {
                    b"bytes" => self.sizes_in_bytes = true,
                    b"abbrev" => self.sizes_in_bytes = false,
                    other => return Err(fault(format!("unknown sizefmt \"{}\"", other.escape_ascii()))),
                },
                other => return Err(unknown(other)),
            }
        }
        Ok(())
    }

    async fn print_variables(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        if !arguments.is_empty() {
            return Err(fault("the element takes no attributes"));
        }
        let mut text = Vec::new();
        for (name, value) in self.whole.variables.borrow().iter() {
            if let PageValue::Text(value) = value {
                text.extend([entities::encode(name), entities::encode(value)].join(&b'='));
                text.push(b'\n');
            }
        }
        self.whole.spend(text.len());
        self.whole.output.write(&text).await;
        Ok(())
    }

    async fn print_file(&mut self, element: &[u8], arguments: &[Argument]) -> Result<(), Fault> {
        for (name, value) in with_values(arguments) {
            let value = self.substituted(&decoded(value), Undefined::Empty)?;
            let LookedUpFile { size, modified } = self.look_up_file(name, &value).await?;
            let text = match (element, self.sizes_in_bytes) {
                (b"flastmod", _) => clock::local(modified, &self.time_format),
                (_, true) => format::in_bytes(size).into_bytes(),
                (_, false) => format::abbreviated(size).into_bytes(),
            };
            self.whole.output.write(&text).await;
        }
        Ok(())
    }
}

fn is_condition(name: &[u8]) -> bool {
    matches!(name, b"if" | b"elif" | b"else" | b"endif")
}

fn is_known(name: &[u8]) -> bool {
    matches!(name, b"echo" | b"set" | b"config" | b"fsize" | b"flastmod" | b"include" | b"exec" | b"perl")
}

impl Page {
    /// The text after its decodings and encodings.
    fn coded(&self, decoding: &[u8], encoding: &[u8], text: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let failed = |kind: &str, why: CodingFault<'_>| match why {
            CodingFault::Unknown(name) => fault(format!("unknown {kind} \"{}\"", name.escape_ascii())),
            CodingFault::TooMany => fault(format!("{kind} has more than {MAX_CODINGS} names")),
            CodingFault::TooLong => {
                self.whole.spend(MAX_CODED);
                fault(format!("a value is longer than {} KB after its {kind}", MAX_CODED >> 10))
            }
        };
        let text = codings::decode(decoding, text.into()).map_err(|why| failed("decoding", why))?;
        codings::encode(encoding, text).map(Cow::into_owned).map_err(|why| failed("encoding", why))
    }

    /// Logs that something was tried, without an error message in the page.
    pub fn note(&self, why: impl Display) {
        self.report(LogLevel::Error, why);
    }
}
