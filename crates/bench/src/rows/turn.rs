//! A short turn: what the server itself adds when the model answers at once.

use super::{Figure, Goal, Row, Values, median, ms};
use crate::floor;
use crate::ground::Ground;

const THREADS: usize = 20;
const TURNS_EACH: usize = 5;
/// How often the floor is measured.
const FLOORS: usize = 100;

pub struct Turn;

impl Row for Turn {
    fn name(&self) -> &'static str {
        "turn"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "one turn",
                unit: "ms",
                goal: Goal::AtMost(0.05),
            },
            Figure {
                name: "one turn, CPU",
                unit: "ms",
                goal: Goal::AtMost(0.015),
            },
            Figure {
                name: "first delta after `turn/start`",
                unit: "ms",
                goal: Goal::AtMost(0.05),
            },
            Figure {
                name: "one turn, times its floor",
                unit: "×",
                goal: Goal::Limit(3.0),
            },
        ]
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let threads = session.threads(ground.count(THREADS)).await?;
            let before = session.cpu()?;
            let (mut wholes, mut firsts) = (Vec::new(), Vec::new());
            for _ in 0..TURNS_EACH {
                for thread in &threads {
                    let times = session.turn(thread, "hello").await?;
                    wholes.push(ms(times.whole));
                    firsts.extend(times.first_delta.map(ms));
                }
            }
            let cpu = ms(session.cpu_since(before)?) / wholes.len() as f64;
            let floor = floor::turn(ground.model(), ground.count(FLOORS)).await?;
            let whole = median(wholes);
            Ok(vec![whole, cpu, median(firsts), whole / ms(floor)])
        })
    }
}
