//! The clock by which limits of commands are measured. It stands still while a client asks its user
//! something, so that nobody's command runs out of time while a person thinks.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Stands still while the number of such questions is above zero.
#[derive(Debug, Clone)]
pub struct Clock(watch::Receiver<u64>);

impl Clock {
    pub fn new(questions: watch::Receiver<u64>) -> Clock {
        Clock(questions)
    }

    /// Waits for so long, not counting the time in which the clock stands still.
    pub(crate) async fn elapse(&self, mut left: Duration) {
        let mut questions = self.0.clone();
        loop {
            if questions.wait_for(|count| *count == 0).await.is_err() {
                // The thread is gone, and its questions with it.
                return tokio::time::sleep(left).await;
            }
            let begun = Instant::now();
            tokio::select! {
                () = tokio::time::sleep(left) => return,
                Ok(_) = questions.wait_for(|count| *count > 0) => {}
            }
            left = left.saturating_sub(begun.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_stands_still_while_a_question_is_open() {
        let (questions, receiver) = watch::channel(0);
        let clock = Clock::new(receiver);
        let sleeping = tokio::spawn(async move { clock.elapse(Duration::from_secs(2)).await });
        questions.send_replace(1);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert!(!sleeping.is_finished());
        questions.send_replace(0);
        sleeping.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_thread_that_is_gone_runs() {
        let (questions, receiver) = watch::channel(1);
        drop(questions);
        Clock::new(receiver).elapse(Duration::from_secs(2)).await;
    }
}
