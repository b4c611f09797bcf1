//! The stages of stopping, as everyone who must react to them sees them.

use tokio::sync::watch;

/// How far stopping has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Running,
    /// Running turns may finish; the listener still serves.
    Draining,
    /// Everything ends now.
    Stopping,
}

/// The current stage. It only moves forward.
pub(crate) struct Shutdown(watch::Sender<Stage>);

impl Default for Shutdown {
    fn default() -> Shutdown {
        Shutdown(watch::Sender::new(Stage::Running))
    }
}

impl Shutdown {
    pub fn advance(&self, stage: Stage) {
        self.0.send_if_modified(|current| {
            let forward = stage > *current;
            if forward {
                *current = stage;
            }
            forward
        });
    }

    /// Waits until the stage is reached.
    pub async fn reached(&self, stage: Stage) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.0
            .subscribe()
            .wait_for(|current| *current >= stage)
            .await
            .ok();
    }
}
