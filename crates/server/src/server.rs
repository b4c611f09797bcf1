//! The state that connections share.

use std::sync::Arc;

use quipu_rpc::CloseCode;

use crate::hub::{Client, Hub, MAX_UNANSWERED};
use crate::identity::Identity;
use crate::lanes::Lanes;
use crate::questions::Questions;
use crate::settings::Settings;
use crate::shutdown::Shutdown;

/// A server without its listener: give it connections with [`serve`](crate::serve).
pub struct Server {
    pub(crate) settings: Settings,
    pub(crate) hub: Hub,
    pub(crate) questions: Questions,
    pub(crate) lanes: Lanes,
    pub(crate) identity: Identity,
    pub(crate) shutdown: Shutdown,
}

impl Server {
    /// Makes a server. Nothing is read, started or connected before the first request that needs it.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Server> {
        Arc::new(Server {
            settings,
            hub: Hub::default(),
            questions: Questions::default(),
            lanes: Lanes::default(),
            identity: Identity::default(),
            shutdown: Shutdown::default(),
        })
    }

    /// Lets what is running finish, for a bounded time.
    pub(crate) async fn drain(&self) {
        let rooms = self.hub.all().into_iter().map(|client| async move {
            // A closed semaphore has nobody left to wait for.
            client.room.acquire_many(MAX_UNANSWERED).await.ok();
        });
        let answered = futures_util::future::join_all(rooms);
        if tokio::time::timeout(self.settings.drain, answered)
            .await
            .is_err()
        {
            tracing::warn!("some requests were not answered before the server stopped");
        }
    }

    /// Ends all connections after what is queued for them was written.
    pub(crate) async fn close(&self) {
        for client in self.hub.all() {
            client.outbox.close(CloseCode::GOING_AWAY);
        }
    }

    /// Releases what belongs to a connection.
    pub(crate) async fn disconnected(&self, client: &Client) {
        self.hub.disconnect(client.id);
    }
}
