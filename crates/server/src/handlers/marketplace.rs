//! `marketplace/add`, `marketplace/remove` and `marketplace/upgrade`.

use quipu_extend::plugins;
use quipu_wire::method::request::{MarketplaceAdd, MarketplaceRemove, MarketplaceUpgrade};
use quipu_wire::{
    AbsolutePath, MarketplaceAddParams, MarketplaceAddResponse, MarketplaceRemoveParams,
    MarketplaceRemoveResponse, MarketplaceUpgradeParams,
};

use super::Handler;
use crate::plugins::{added, refusal};
use crate::{Cx, Refusal};

impl Handler for MarketplaceAdd {
    async fn run(cx: Cx, params: MarketplaceAddParams) -> Result<Self::Result, Refusal> {
        let server = &cx.server;
        let user = server.settings.config.env().user_home();
        let part = (
            params.ref_name.as_deref(),
            params.sparse_paths.unwrap_or_default(),
        );
        let source = plugins::parse_source(&params.source, part, (server.cwd(), user));
        let source = source.map_err(|error| refusal(&error, "add marketplace"))?;
        let added = added::add(server, source).await?;
        let installed_root = AbsolutePath::new(&added.root)
            .ok_or_else(|| Refusal::internal("the marketplace has no absolute path"))?;
        Ok(MarketplaceAddResponse {
            marketplace_name: added.name,
            installed_root,
            already_added: added.is_old,
        })
    }
}

impl Handler for MarketplaceRemove {
    async fn run(cx: Cx, params: MarketplaceRemoveParams) -> Result<Self::Result, Refusal> {
        let removed = added::remove(&cx.server, &params.marketplace_name).await?;
        Ok(MarketplaceRemoveResponse {
            marketplace_name: params.marketplace_name,
            installed_root: removed.and_then(|root| AbsolutePath::new(&root)),
        })
    }
}

impl Handler for MarketplaceUpgrade {
    async fn run(cx: Cx, params: MarketplaceUpgradeParams) -> Result<Self::Result, Refusal> {
        added::upgrade(&cx.server, params.marketplace_name.as_deref()).await
    }
}
