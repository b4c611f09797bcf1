//! The state that connections share.

use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::CloseCode;
use tokio::time::timeout;

use crate::hub::{Client, Hub};
use crate::identity::Identity;
use crate::lanes::Lanes;
use crate::questions::Questions;
use crate::settings::Settings;

/// A server without its listener: give it connections with [`serve`](crate::serve).
pub struct Server {
    pub(crate) settings: Settings,
    pub(crate) hub: Hub,
    pub(crate) questions: Questions,
    pub(crate) lanes: Lanes,
    pub(crate) identity: Identity,
}

impl Server {
    /// Makes a server. Nothing is read, started or connected before the first request that needs it.
    #[must_use]
    pub fn new(settings: Settings) -> Arc<Server> {
        let identity = Identity::new(settings.config.env());
        Arc::new(Server {
            settings,
            hub: Hub::default(),
            questions: Questions::default(),
            lanes: Lanes::default(),
            identity,
        })
    }

    /// Lets what is running finish, but not longer than `limit`. Clients are served all the while.
    pub(crate) async fn drain(&self, limit: Duration) {
        let rooms = self.hub.all().into_iter();
        let answered = rooms.map(|client| async move { client.room.emptied().await });
        if timeout(limit, futures_util::future::join_all(answered))
            .await
            .is_err()
        {
            tracing::warn!("what is still running is ended");
        }
    }

    /// Ends what is still running and tells clients so, within bounds.
    pub(crate) async fn interrupt(&self) {
        for client in self.hub.all() {
            client.leave();
        }
    }

    /// Ends all connections after what is queued for them was written.
    pub(crate) async fn close(&self) {
        for client in self.hub.all() {
            client.outbox.close(CloseCode::GOING_AWAY);
        }
        self.hub.all_closed().await;
    }

    /// Releases what belongs to a connection.
    pub(crate) async fn disconnected(&self, client: &Client) {
        self.hub.disconnect(client.id);
    }
}
