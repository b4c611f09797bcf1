//! The names of agents, so that people can distinguish them.

use uuid::Uuid;

/// Names for agents whose role has none of its own.
const NAMES: [&str; 40] = [
    "Agnesi",
    "Archimedes",
    "Aryabhata",
    "Boole",
    "Brahe",
    "Cantor",
    "Carson",
    "Celsius",
    "Darwin",
    "Dirac",
    "Euler",
    "Faraday",
    "Fermat",
    "Fibonacci",
    "Galois",
    "Gauss",
    "Germain",
    "Goodall",
    "Hamilton",
    "Hertz",
    "Hilbert",
    "Hodgkin",
    "Hopper",
    "Humboldt",
    "Huygens",
    "Hypatia",
    "Khwarizmi",
    "Kovalevskaya",
    "Lamarr",
    "Leibniz",
    "Lovelace",
    "Mendel",
    "Noether",
    "Ohm",
    "Pascal",
    "Perelman",
    "Sagan",
    "Somerville",
    "Turing",
    "Volta",
];

/// A name that none of the others has: one of the candidates, or one of ours if there are none. When all
/// are taken there is a second of each, and so on.
pub(super) fn pick(candidates: &[String], taken: &[&str]) -> String {
    let own = NAMES.map(str::to_owned);
    let candidates = match candidates {
        [] => &own[..],
        candidates => candidates,
    };
    let rounds = (1..).map(|round| {
        let names = candidates.iter().map(|name| numbered(name, round));
        names
            .filter(|name| !taken.contains(&name.as_str()))
            .collect::<Vec<_>>()
    });
    let mut free = rounds.skip_while(Vec::is_empty);
    let mut free = free.next().unwrap_or_default();
    let chance = Uuid::new_v4().as_u128() % free.len().max(1) as u128;
    free.swap_remove(usize::try_from(chance).unwrap_or_default())
}

fn numbered(name: &str, round: usize) -> String {
    let ending = match (round % 10, round % 100) {
        _ if round == 1 => return name.to_owned(),
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{name} the {round}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_agents_have_the_same_name() {
        let mut taken: Vec<String> = Vec::new();
        for _ in 0..100 {
            let others: Vec<&str> = taken.iter().map(String::as_str).collect();
            let name = pick(&[], &others);
            assert!(!taken.contains(&name), "{name}");
            taken.push(name);
        }
        assert!(taken[..40].iter().all(|name| !name.contains(" the ")));
        assert!(taken[40..80].iter().all(|name| name.ends_with(" the 2nd")));
        assert!(taken[80..].iter().all(|name| name.ends_with(" the 3rd")));
    }

    #[test]
    fn a_role_has_names_of_its_own() {
        let candidates = ["Ada".to_owned()];
        assert_eq!(pick(&candidates, &[]), "Ada");
        assert_eq!(pick(&candidates, &["Ada"]), "Ada the 2nd");
        assert_eq!(numbered("Ada", 11), "Ada the 11th");
        assert_eq!(numbered("Ada", 21), "Ada the 21st");
    }
}
