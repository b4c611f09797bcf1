//! `image_generation`: the provider makes images by itself. It is offered here and run nowhere.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::call::{Finished, Running};
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;

pub(crate) struct ImageGeneration;

impl Tool for ImageGeneration {
    fn name(&self) -> &'static str {
        "image_generation"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let tool = json!({ "type": "image_generation", "output_format": "png" });
        let offered = scope.features.image_generation;
        offered.then(|| Spec::hosted(self.name(), tool.into()))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        std::future::ready(run.unsupported()).boxed()
    }
}
