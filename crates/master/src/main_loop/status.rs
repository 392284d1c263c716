//! The status: put together from the parts, and sent to the clients that wait for it.

use std::time::Instant;

use wire::board;
use wire::control::{FrontStatus, PoolId, ServerCounts, ToFront};
use wire::fcgid::ProgramsBoard;

use super::Master;
use crate::configuration::address_name;
use crate::front_requests::Detail;
use crate::generation::GenerationEntry;
use crate::sockets::control_socket::{ControlClient, ControlReply};
use config::pools;
use status::{FastcgiProgram, FileId, GenerationStatus, MoldStatus, ServerStatus};

impl Master {
    /// Answers the clients that wait for the status. `front` is `None` if the front did not answer in time.
    pub(super) fn answer_status(&mut self, front: Option<FrontStatus>) {
        let clients = self.front_requests.take_status();
        if clients.is_empty() {
            return;
        }
        let mut status = self.status(front);
        let (counted, others): (Vec<_>, Vec<_>) =
            clients.into_iter().partition(|(_, detail)| *detail == Detail::Counted);
        self.send_status(&counted, status.clone());
        if let Some(front) = &mut status.front {
            front.spreads = None;
        }
        self.send_status(&others, status);
    }

    fn send_status(&mut self, clients: &[(ControlClient, Detail)], status: ServerStatus) {
        let answer = ControlReply { status: Some(status), ..ControlReply::ok() };
        clients.iter().for_each(|(client, _)| self.answer(Some(*client), &answer));
    }

    pub(super) fn status(&self, front: Option<FrontStatus>) -> ServerStatus {
        let uptime = self.announcer.uptime(Instant::now());
        ServerStatus {
            version: env!("CARGO_PKG_VERSION").to_string(),
            pid: std::process::id().cast_signed(),
            origin: self.origin.name(),
            origin_file: self.origin.file().and_then(FileId::of),
            pid_file: self.announcer.pid_file(),
            uptime_s: uptime.as_secs(),
            uptime_ms: u64::try_from(uptime.as_millis()).unwrap_or(u64::MAX),
            listen: self.listeners.addresses().map(address_name).collect(),
            generation: self.generations.serving().unwrap_or(0),
            stopping: self.stop.is_under_way(),
            node: self.node_status(),
            generations: self.generations.iter().map(|generation| self.generation_status(generation)).collect(),
            max_clients: self.targets().most_workers,
            front_pid: self.front_pid(),
            memory: self.memory_status(),
            counts: self.counts(),
            history_file: self.monitor_files.history_path().map(|path| path.display().to_string()),
            programs: self.programs(),
            certificates: self.certificate_status(),
            monitor_pid: self.children.monitor.as_ref().map(|monitor| monitor.pid.as_raw()),
            front,
        }
    }

    fn generation_status<C>(&self, generation: &GenerationEntry<C>) -> GenerationStatus {
        let forking = generation.forking(pools::DEFAULT);
        GenerationStatus {
            generation: generation.number,
            state: generation.state,
            mold_pid: forking.map_or(0, |member| member.pid),
            refork: forking.map_or(0, |member| member.refork),
            workers: u32::try_from(self.workers.of_generation(generation.number).count()).unwrap_or(u32::MAX),
            molds: self.mold_status(generation.number),
        }
    }

    /// The mold of each pool, where there are several pools.
    fn mold_status(&self, number: u32) -> Vec<MoldStatus> {
        let Some(generation) = self.generations.get(number).filter(|it| it.pools.len() > 1) else { return Vec::new() };
        let config = &generation.config.config;
        let status = |id: PoolId| {
            let forking = generation.forking(id.pool);
            MoldStatus {
                pool: config.pool_name(id.pool).to_owned(),
                perl_generation: config.api_number(id.pool),
                pid: forking.map_or(0, |member| member.pid),
                refork: forking.map_or(0, |member| member.refork),
                workers: u32::try_from(self.workers.of(id).count()).unwrap_or(u32::MAX),
            }
        };
        generation.pools().map(|(id, _)| status(id)).collect()
    }

    /// The FastCGI programs of all generations. A board that cannot be read is left out: its manager writes it again.
    fn programs(&self) -> Vec<FastcgiProgram> {
        let mut all = Vec::new();
        for (id, board) in self.children.boards() {
            let read = board::read(board).ok().and_then(|text| serde_json::from_str::<ProgramsBoard>(&text).ok());
            let config = self.generations.get(id.pool.generation).map(|generation| &generation.config.config);
            for program in read.unwrap_or_default().programs {
                let host = config.and_then(|config| config.hosts.get(usize::from(program.host)));
                let host = host.and_then(|host| host.server_name.clone()).unwrap_or_default();
                all.push(FastcgiProgram { generation: id.pool.generation, host_name: host, program });
            }
        }
        all
    }

    /// The front's own pages show the counts, too.
    pub(super) fn send_counts(&mut self) {
        self.send_to_front(ToFront::Counts(self.counts()), vec![]);
    }

    fn counts(&self) -> ServerCounts {
        let own = self.generations.serving_pool();
        self.exits.counts(own.and_then(|own| self.generations.forking(own)).map_or(0, |member| member.refork))
    }
}
