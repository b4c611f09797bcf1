//! A new process in a home of many threads, until it has shown the first page of them.

use futures_util::future::BoxFuture;

use super::Curve;
use crate::Result;
use crate::ground::Ground;
use crate::rows::{Values, median};
use crate::stock::{MADE, cold_list, many_threads};

pub struct Stored;

impl Curve for Stored {
    fn size_of(&self) -> &'static str {
        "stored threads"
    }

    fn sizes(&self) -> &'static [usize] {
        &[1000, 10_000, 50_000]
    }

    fn figures(&self) -> &'static [(&'static str, &'static str)] {
        &[
            (
                "first page after the threads were copied in, from cold",
                "ms",
            ),
            ("first page of stored threads, from cold", "ms"),
        ]
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> BoxFuture<'a, Result<()>> {
        Box::pin(many_threads(ground, MADE, size))
    }

    fn measure<'a>(&'a self, ground: &'a Ground<'a>, _size: usize) -> Values<'a> {
        Box::pin(async {
            let first = cold_list(ground).await?.listed;
            let mut times = Vec::new();
            for _ in 0..5 {
                times.push(cold_list(ground).await?.listed);
            }
            Ok(vec![first, median(times)])
        })
    }
}
