//! The configuration as one pool with Perl sees it: programs of its places find the same variables whether a process
//! without Perl starts them or a worker of that pool does.

use std::rc::Rc;

use wire::control::{PoolNumber, ProgramFacts};

use crate::place::logged;
use crate::start_up;
use config::Config;

pub struct PoolView {
    pub config: Rc<Config>,
    /// The API that the pool speaks.
    pub api: apache::Api,
    /// `SERVER_SOFTWARE`
    pub software: String,
    /// Variables of `%ENV` after the pool has loaded its code.
    pub start_env: Rc<[(Vec<u8>, Vec<u8>)]>,
    /// For each host, the values that its access logs need.
    pub logged: Vec<Rc<apache::Logged>>,
}

impl PoolView {
    pub fn new(config: &Config, pool: PoolNumber, facts: ProgramFacts) -> PoolView {
        let ProgramFacts { components, variables } = facts;
        let mut config = config.clone().for_pool(pool);
        start_up::take_over_env(&mut config, &variables);
        let api = start_up::api_of(&config);
        let software = config.tokens.software(api.mod_perl(), &components);
        PoolView { logged: logged(&config), config: Rc::new(config), api, software, start_env: variables.into() }
    }
}
