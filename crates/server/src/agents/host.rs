//! A thread's agents, as its tools reach them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{self, BoxFuture};
use quipu_journal::{Source, SubAgent, ThreadSpawn};
use quipu_tools::agents::{Agents as AgentTools, Order, Spawned, is_done};
use quipu_wire::method::event;
use quipu_wire::{
    CollabAgentState, CollabAgentStatus, SessionSource, SubAgentSource, ThreadStartedNotification,
    ThreadStatus, ThreadStatusChangedNotification, UserInput,
};
use uuid::Uuid;

use super::roles::{self, Wanted};
use super::{Agent, Name, Reservation};
use crate::Server;
use crate::threads::child::{self, Child};
use crate::threads::{AgentMessage, InheritedSettings, Message, Opened, ThreadHandle, load};

/// The agents below one thread.
pub(crate) struct AgentHost {
    pub server: Arc<Server>,
    pub parent: ThreadHandle,
}

impl AgentHost {
    fn find(&self, id: &str) -> Result<Arc<Agent>, String> {
        let found = self.server.agents.below(&self.parent.id, id);
        found.ok_or_else(|| not_found(id))
    }

    /// Waits until clients were notified of the call, so that they are notified of what it does after it.
    async fn catch_up(&self) {
        self.parent.snapshot().await;
    }

    async fn inherited(&self) -> Result<InheritedSettings, String> {
        let inherited = self.parent.inherited_settings().await;
        inherited.ok_or_else(|| "the thread is being unloaded".to_owned())
    }

    async fn start(&self, order: Order) -> Result<Spawned, String> {
        let inherited = self.inherited().await?;
        let settings = inherited.session.snapshot.agents();
        let depth = inherited.depth.saturating_add(1);
        if depth > settings.max_depth {
            return Err("Agent depth limit reached. Solve the task yourself.".to_owned());
        }
        let limit = settings.max_threads;
        let role = roles::find(&inherited.session.snapshot, order.role.as_deref())?;
        let wanted = Wanted {
            model: order.model,
            effort: order.effort,
        };
        let session =
            roles::session(&self.server, &inherited.session, role.as_ref(), wanted).await?;
        let (model, effort) = (session.model.clone(), session.effort);
        let failed = |why: String| format!("collab spawn failed: {why}");
        let id = Uuid::now_v7();
        let names = role
            .map(|role| role.nickname_candidates)
            .unwrap_or_default();
        let name = Name::OneOf(&names);
        let (agents, role) = (&self.server.agents, order.role.clone());
        let reservation = agents
            .register(&self.parent, id.to_string().into(), name, role, limit)
            .map_err(failed)?;
        let nickname = reservation.agent.nickname.clone();
        let origin = ThreadSpawn {
            parent_thread_id: self.parent.id.to_string(),
            depth,
            agent_path: None,
            agent_nickname: Some(nickname.clone()),
            agent_role: order.role,
        };
        let child = Child {
            id,
            origin,
            session,
            inherited: &inherited,
        };
        let opened = match order.with_context {
            true => tokio::task::block_in_place(|| {
                child::with_context(&self.server, child, &order.call_id)
            }),
            false => child::new(&self.server, child),
        };
        let opened = opened.map_err(|error| failed(error.to_string()))?;
        let thread = self
            .announce_and_start(opened, reservation)
            .await
            .map_err(failed)?;
        let id = id.to_string();
        if let Err(why) = self.send_input(&thread, order.input, false).await {
            if let Ok(agent) = self.find(&id) {
                super::close(&self.server, &agent).await;
            }
            return Err(failed(why));
        }
        Ok(Spawned {
            id,
            nickname,
            model,
            effort,
        })
    }

    /// Lets an agent's thread start, once it is announced: clients are notified of a thread before they are of what
    /// happens in it. A parent that has begun to end takes no new agents.
    async fn announce_and_start(
        &self,
        opened: Opened,
        reservation: Reservation<'_>,
    ) -> Result<ThreadHandle, String> {
        self.announce(&opened).await;
        let taken = reservation.take(opened.handle.clone());
        drop(opened.hold);
        match taken {
            Ok(_) => Ok(opened.handle),
            Err(why) => {
                opened.handle.close().await;
                Err(why)
            }
        }
    }

    async fn announce(&self, opened: &Opened) {
        let started = ThreadStartedNotification {
            thread: opened.thread.clone(),
        };
        let idle = ThreadStatusChangedNotification {
            thread_id: opened.handle.id.to_string(),
            status: ThreadStatus::Idle,
        };
        let hub = &self.server.hub;
        hub.broadcast::<event::ThreadStarted>(&started).await;
        hub.broadcast::<event::ThreadStatusChanged>(&idle).await;
    }

    async fn send_input(
        &self,
        thread: &ThreadHandle,
        input: Vec<UserInput>,
        interrupt: bool,
    ) -> Result<String, String> {
        let turn_id = Uuid::now_v7().to_string();
        match thread
            .agent_input(input, turn_id.clone().into(), interrupt)
            .await
        {
            Some(Ok(())) => Ok(turn_id),
            Some(Err(why)) => Err(why),
            None => Err(format!("agent with id {} is closed", thread.id)),
        }
    }

    /// Resumes an agent of this thread: from its rollout, or after a client has loaded it.
    async fn resume_agent(&self, id: &str) -> Result<(), String> {
        if self.find(id).is_ok() {
            return Ok(());
        }
        let inherited = self.inherited().await?;
        let limit = inherited.session.snapshot.agents().max_threads;
        if let Some(thread) = self.server.threads.get(id) {
            return self.adopt(thread, limit).await;
        }
        let uuid = Uuid::parse_str(id).map_err(|_| not_found(id))?;
        let (replay, log) = tokio::task::block_in_place(|| {
            let path = load::find(&self.server, uuid).map_err(|_| not_found(id))?;
            load::reopen(&self.server, &path).map_err(|error| error.to_string())
        })?;
        let Source::SubAgent(SubAgent::ThreadSpawn(origin)) = replay.meta.source.clone() else {
            return Err(not_found(id));
        };
        let name = self.own_child(id, &origin.parent_thread_id, origin.agent_nickname.clone())?;
        let role = roles::find(&inherited.session.snapshot, origin.agent_role.as_deref())
            .unwrap_or_default();
        let session = roles::session(
            &self.server,
            &inherited.session,
            role.as_ref(),
            Wanted::default(),
        )
        .await?;
        let reservation = self.server.agents.register(
            &self.parent,
            id.into(),
            name,
            origin.agent_role.clone(),
            limit,
        )?;
        let child = Child {
            id: uuid,
            origin,
            session,
            inherited: &inherited,
        };
        let opened = tokio::task::block_in_place(|| {
            child::stored(&self.server, child, replay, log).map_err(|error| error.to_string())
        })?;
        self.announce_and_start(opened, reservation).await.map(drop)
    }

    /// Takes over an agent that a client has loaded meanwhile.
    async fn adopt(&self, thread: ThreadHandle, limit: usize) -> Result<(), String> {
        let id = &thread.id;
        let snapshot = thread.snapshot().await.ok_or_else(|| not_found(id))?;
        let SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
            parent_thread_id,
            agent_nickname,
            agent_role,
            ..
        }) = snapshot.thread.source
        else {
            return Err(not_found(id));
        };
        let name = self.own_child(id, &parent_thread_id.to_string(), agent_nickname)?;
        let agents = &self.server.agents;
        let reservation = agents.register(&self.parent, id.clone(), name, agent_role, limit)?;
        let agent = reservation.take(thread.clone())?;
        thread
            .send(Message::Agent(AgentMessage::Adopt(agent)))
            .await;
        Ok(())
    }

    /// The name of a thread that this one started; it has no access to others.
    fn own_child(
        &self,
        id: &str,
        parent: &str,
        nickname: Option<String>,
    ) -> Result<Name<'static>, String> {
        match self.parent.id == *parent {
            true => Ok(nickname.map_or(Name::OneOf(&[]), Name::Known)),
            false => Err(not_found(id)),
        }
    }
}

impl AgentTools for AgentHost {
    fn spawn(&self, order: Order) -> BoxFuture<'_, Result<Spawned, String>> {
        Box::pin(self.start(order))
    }

    fn send<'a>(
        &'a self,
        id: &'a str,
        input: Vec<UserInput>,
        interrupt: bool,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            self.catch_up().await;
            let agent = self.find(id)?;
            let thread = agent.thread().ok_or_else(|| not_found(id))?;
            self.send_input(thread, input, interrupt).await
        })
    }

    fn wait<'a>(&'a self, ids: &'a [String]) -> BoxFuture<'a, BTreeMap<String, CollabAgentState>> {
        Box::pin(async move {
            let found: Vec<Result<Arc<Agent>, &String>> =
                ids.iter().map(|id| self.find(id).map_err(|_| id)).collect();
            if found.iter().all(Result::is_ok) {
                let agents = found.iter().flatten();
                future::select_all(agents.map(|agent| Box::pin(agent.done()))).await;
            }
            let states = found.into_iter().map(|agent| match agent {
                Ok(agent) => (agent.id.to_string(), agent.state()),
                Err(id) => (id.clone(), super::state(CollabAgentStatus::NotFound)),
            });
            states.filter(|(_, state)| is_done(state)).collect()
        })
    }

    fn close<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<CollabAgentState, String>> {
        Box::pin(async move {
            self.catch_up().await;
            let agent = self.find(id)?;
            let before = agent.state();
            super::close(&self.server, &agent).await;
            Ok(before)
        })
    }

    fn resume<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.resume_agent(id))
    }

    fn state(&self, id: &str) -> CollabAgentState {
        match self.find(id) {
            Ok(agent) => agent.state(),
            Err(_) => super::state(CollabAgentStatus::NotFound),
        }
    }
}

fn not_found(id: &str) -> String {
    format!("agent with id {id} not found")
}
