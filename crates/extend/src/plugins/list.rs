//! Which marketplaces there are, and what a client is shown of their plugins.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use quipu_config::Snapshot;
use quipu_wire::{
    AbsolutePath, MarketplaceInterface, MarketplaceLoadErrorInfo, PluginInterface,
    PluginMarketplaceEntry, PluginSource, PluginSummary,
};

use super::manifest::{Manifest, empty_interface};
use super::marketplace::{Marketplace, Offer, PLACE};
use super::{CURATED, PluginError, PluginId, added_root, curated_root, installed};

/// The name that the marketplace of the provider is shown under.
const CURATED_NAME: &str = "OpenAI Curated";

/// The marketplaces of some directories, and those that cannot be used.
#[derive(Debug, Default)]
pub struct Marketplaces {
    /// By place, the user's own first.
    pub found: Vec<PluginMarketplaceEntry>,
    /// One error for each file that is left out.
    pub errors: Vec<MarketplaceLoadErrorInfo>,
}

impl Marketplaces {
    /// Reads the marketplaces of these directories, of the user and of the provider. Of two plugins with one
    /// id only the first is shown.
    pub fn find(settings: &Snapshot, user: Option<&Path>, cwds: &[PathBuf]) -> Marketplaces {
        let switches = settings.plugins();
        let mut seen = HashSet::new();
        let mut marketplaces = Marketplaces::default();
        for file in files(settings, user, cwds) {
            let Some(path) = AbsolutePath::new(&file) else {
                continue;
            };
            match Marketplace::read(&file) {
                Ok(market) => {
                    let entry = entry(settings, &switches, market, path, &mut seen);
                    marketplaces.found.extend(entry);
                }
                Err(error) => marketplaces.errors.push(MarketplaceLoadErrorInfo {
                    marketplace_path: path,
                    message: error.to_string(),
                }),
            }
        }
        marketplaces
    }
}

/// The files that exist: the user's, then those of the directories, of the provider, and of what the user has added by
/// path.
fn files(settings: &Snapshot, user: Option<&Path>, cwds: &[PathBuf]) -> Vec<PathBuf> {
    let own = user.map(|user| user.join(PLACE));
    let mut others: BTreeSet<PathBuf> = cwds.iter().filter_map(|cwd| nearest(cwd)).collect();
    let home = settings.home().path();
    others.insert(curated_root(home).join(PLACE));
    let added = settings.marketplaces();
    let added = added.iter().map(|(name, it)| added_root(home, name, it));
    others.extend(added.map(|root| root.join(PLACE)));
    others.retain(|file| Some(file) != own.as_ref());
    let all = own.into_iter().chain(others);
    all.filter(|file| file.is_file()).collect()
}

/// The file of a directory itself, else of its repository.
fn nearest(cwd: &Path) -> Option<PathBuf> {
    let own = cwd.join(PLACE);
    if own.is_file() {
        return Some(own);
    }
    let mut above = cwd.ancestors();
    let repository = above.find(|directory| directory.join(".git").exists())?;
    Some(repository.join(PLACE))
}

fn entry(
    settings: &Snapshot,
    switches: &BTreeMap<String, bool>,
    market: Marketplace,
    path: AbsolutePath,
    seen: &mut HashSet<String>,
) -> Option<PluginMarketplaceEntry> {
    let root = path.as_path().ancestors().nth(3)?.to_owned();
    let mut plugins = Vec::new();
    for offer in market.plugins.iter().filter(|offer| offer.is_for_us()) {
        let summary = summary(settings, switches, &market.name, &root, offer);
        plugins.extend(summary.filter(|summary| seen.insert(summary.id.clone())));
    }
    let shown = market.interface.and_then(|it| it.display_name);
    let shown = match market.name == CURATED {
        true => Some(CURATED_NAME.to_owned()),
        false => shown,
    };
    let interface = shown.map(|name| MarketplaceInterface {
        display_name: Some(name),
    });
    (!plugins.is_empty()).then_some(PluginMarketplaceEntry {
        name: market.name,
        path,
        interface,
        plugins,
    })
}

/// What a list shows of a plugin on offer.
pub(super) fn summary(
    settings: &Snapshot,
    switches: &BTreeMap<String, bool>,
    market: &str,
    root: &Path,
    offer: &Offer,
) -> Option<PluginSummary> {
    let directory = offer.directory(root).ok()?;
    let id = format!("{}@{market}", offer.name);
    let switch = switches.get(&id).copied();
    let parsed = PluginId::parse(&id).ok();
    let home = settings.home().path();
    let is_there = parsed.is_some_and(|id| installed::version(home, &id).is_some());
    let manifest = offer.source(root).and_then(|it| Manifest::read(&it));
    let interface = manifest.and_then(|manifest| manifest.interface);
    Some(PluginSummary {
        id,
        name: offer.name.clone(),
        source: PluginSource::Local {
            path: AbsolutePath::new(directory)?,
        },
        installed: switch.is_some() && is_there,
        enabled: switch == Some(true),
        install_policy: offer.policy.installation(),
        auth_policy: offer.policy.authentication(),
        interface: with_category(interface, offer.category.as_deref()),
    })
}

/// The marketplace's category counts more than the plugin's.
fn with_category(
    interface: Option<PluginInterface>,
    category: Option<&str>,
) -> Option<PluginInterface> {
    let Some(category) = category else {
        return interface;
    };
    Some(PluginInterface {
        category: Some(category.to_owned()),
        ..interface.unwrap_or_else(empty_interface)
    })
}

/// What a client reads about one plugin of a marketplace, from where the marketplace has it.
#[derive(Debug)]
pub struct Details {
    /// The marketplace's name.
    pub marketplace: String,
    /// What a list shows of it.
    pub summary: PluginSummary,
    /// What it brings.
    pub plugin: installed::Plugin,
}

/// Reads one plugin of a marketplace.
pub fn read(settings: &Snapshot, file: &Path, name: &str) -> Result<Details, PluginError> {
    let refused = |text: &str| PluginError::Refused(text.to_owned());
    let market = Marketplace::read(file)?;
    let offer = market.find(name).filter(|offer| offer.is_for_us());
    let Some(offer) = offer else {
        return Err(market.not_found(name));
    };
    let id = PluginId::new(name, &market.name)?;
    let root = file.ancestors().nth(3).unwrap_or(file);
    let missing = || refused("path does not exist or is not a directory");
    let directory = offer.source(root).ok_or_else(missing)?;
    let manifest = Manifest::read(&directory)
        .ok_or_else(|| refused("missing or invalid .codex-plugin/plugin.json"))?;
    let switches = settings.plugins();
    let summary = summary(settings, &switches, &market.name, root, offer).ok_or_else(missing)?;
    Ok(Details {
        marketplace: market.name.clone(),
        summary,
        plugin: installed::plugin(id, directory, manifest, settings),
    })
}
