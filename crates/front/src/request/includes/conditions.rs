//! `if`, `elif`, `else` and `endif`.

use super::page::Page;
use super::values::{Fault, fault};
use ssi::parser::Argument;

impl Page {
    pub async fn execute_if(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        if self.conditions.skips_if() {
            return Ok(());
        }
        self.decide(arguments).await
    }

    pub async fn execute_elif(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        if self.conditions.is_inside_of_skipped() {
            return Ok(());
        }
        match self.conditions.reach_elif() {
            true => self.decide(arguments).await,
            false => expression(arguments).map(drop),
        }
    }

    async fn decide(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        self.conditions.fail();
        let is_true = self.is_true(expression(arguments)?).await?;
        self.conditions.decide(is_true);
        Ok(())
    }

    pub fn execute_else(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        match (self.conditions.is_inside_of_skipped(), arguments.is_empty(), self.conditions.printing) {
            (true, ..) => {}
            (false, true, _) => self.conditions.reach_else(),
            (false, false, true) => return Err(fault("the element takes no attributes")),
            // As in httpd, an invalid element in a skipped branch prints no error message.
            (false, false, false) => {}
        }
        Ok(())
    }

    pub fn execute_endif(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        if !self.conditions.is_inside_of_skipped() && !arguments.is_empty() {
            return Err(fault("the element takes no attributes"));
        }
        self.conditions.reach_endif();
        Ok(())
    }
}

fn expression(arguments: &[Argument]) -> Result<&[u8], Fault> {
    match arguments {
        [Argument { name, value: Some(value) }] if name == b"expr" => Ok(value),
        _ => Err(fault("the element needs one attribute, expr")),
    }
}
