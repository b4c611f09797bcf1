//! What the model says, as people should see it: references to notes are taken out, and in plan mode the
//! proposed plan is distinguished. Works on the stream piece by piece; how it is cut makes no difference.

use quipu_wire::MemoryCitation;

use super::citation::CitationFilter;
use super::plan::PlanSplitter;

/// A piece of what the model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speech<'a> {
    /// Words to the person.
    Text(&'a str),
    /// A proposed plan begins; it replaces an earlier one.
    PlanStart,
    /// Words of the plan.
    PlanText(&'a str),
    /// The plan ends.
    PlanEnd,
}

/// The filter for one message of the model.
#[derive(Debug, Default)]
pub struct SpeechFilter {
    citations: CitationFilter,
    plan: Option<PlanSplitter>,
}

impl SpeechFilter {
    /// A filter; plans are only looked for in plan mode.
    pub fn new(plan_mode: bool) -> Self {
        Self {
            citations: CitationFilter::default(),
            plan: plan_mode.then(PlanSplitter::default),
        }
    }

    /// Whether the next piece is seen as it is, so that it need not be pushed.
    pub fn shows(&self, delta: &str) -> bool {
        self.plan.is_none() && self.citations.shows(delta)
    }

    /// Takes the next piece of the message.
    pub fn push(&mut self, delta: &str, mut out: impl FnMut(Speech<'_>)) {
        let Self { citations, plan } = self;
        citations.push(delta, &mut |visible| pass(plan, visible, &mut out));
    }

    /// Ends the message.
    pub fn finish(&mut self, mut out: impl FnMut(Speech<'_>)) {
        let Self { citations, plan } = self;
        citations.finish(&mut |visible| pass(plan, visible, &mut out));
        if let Some(plan) = plan {
            plan.finish(&mut out);
        }
    }

    /// The notes that the message refers to.
    pub fn citation(&self) -> Option<MemoryCitation> {
        self.citations.citation()
    }
}

fn pass(plan: &mut Option<PlanSplitter>, visible: &str, out: &mut impl FnMut(Speech<'_>)) {
    match plan {
        Some(plan) => plan.push(visible, out),
        None => out(Speech::Text(visible)),
    }
}

/// A whole message as people should see it.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    /// The words to the person.
    pub text: String,
    /// The last plan.
    pub plan: Option<String>,
    /// The notes that it refers to.
    pub citation: Option<MemoryCitation>,
}

impl Said {
    /// Reads a message that is already complete.
    pub fn read(message: &str, plan_mode: bool) -> Self {
        let mut said = Self::default();
        let mut filter = SpeechFilter::new(plan_mode);
        filter.push(message, |speech| said.hear(speech));
        filter.finish(|speech| said.hear(speech));
        said.citation = filter.citation();
        said
    }

    /// Adds a piece.
    pub fn hear(&mut self, speech: Speech<'_>) {
        match speech {
            Speech::Text(text) => self.text.push_str(text),
            Speech::PlanStart => self.plan = Some(String::new()),
            Speech::PlanText(text) => self.plan.get_or_insert_default().push_str(text),
            Speech::PlanEnd => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    fn plan_mode(message: &str) -> (String, Option<String>) {
        let said = Said::read(message, true);
        (said.text, said.plan)
    }

    /// Each line was put to the reference program.
    #[test]
    fn plans_are_cut_out_as_the_reference_cuts_them() {
        let (open, close) = ("<proposed_plan>", "</proposed_plan>");
        let cases = [
            (
                format!("before\n{open}\n- a\n- b\n{close}\nafter"),
                "before\nafter",
                Some("- a\n- b\n"),
            ),
            (
                format!("b\n  {open}  \nx\n  {close}  \nafter"),
                "b\nafter",
                Some("x\n"),
            ),
            (
                format!("{open}\nunclosed\nmore"),
                "",
                Some("unclosed\nmore"),
            ),
            (
                format!("{open}\none\n{close}\nmid\n{open}\ntwo\n{close}\nend"),
                "mid\nend",
                Some("two\n"),
            ),
            (
                format!("text\n\n\n{open}\nx\n{close}"),
                "text\n\n\n",
                Some("x\n"),
            ),
            (format!("  \n{open}\nx\n{close}\n  \n"), "", Some("x\n")),
            (
                format!("  \n{open}\nx\n{close}\nafter"),
                "  \nafter",
                Some("x\n"),
            ),
            (format!("a\n{open}\nx\n{close}\n\n"), "a\n\n", Some("x\n")),
            (
                format!("{open}\nfoo\n{open}\nbar\n{close}\nz"),
                "z",
                Some("foo\n<proposed_plan>\nbar\n"),
            ),
            (format!("{open}\n\n{close}"), "", Some("\n")),
            (
                format!("a\r\n{open}\r\nx\r\n{close}\r\nb"),
                "a\r\nb",
                Some("x\r\n"),
            ),
            (
                format!("{open}\nin <oai-mem-citation>q</oai-mem-citation> plan\n{close}"),
                "",
                Some("in  plan\n"),
            ),
        ];
        for (message, text, plan) in cases {
            assert_eq!(
                plan_mode(&message),
                (text.to_owned(), plan.map(str::to_owned)),
                "{message:?}"
            );
        }
        for message in [
            format!("before {open}x{close} after"),
            format!("b\n{open}x\ny{close}\nafter"),
            format!("a {open}\nx\n{close}\nb"),
            format!("{open} trailing\nx\n{close} tail\nb"),
            format!("x\n{close}\ny"),
            "hello\n<proposed_pla".to_owned(),
            "hello <proposed_planet> x".to_owned(),
            "\n\n  leading".to_owned(),
        ] {
            assert_eq!(plan_mode(&message), (message.clone(), None));
        }
        let message = format!("a\n{open}\nx\n{close}\n");
        assert_eq!(
            Said::read(&message, false).text,
            message,
            "plans are for plan mode"
        );
    }

    #[test]
    fn references_to_notes_are_taken_out_and_read() {
        let text = |message: &str| Said::read(message, false).text;
        assert_eq!(
            text("cite <oai-mem-citation>abc</oai-mem-citation> tail"),
            "cite  tail"
        );
        assert_eq!(text("un <oai-mem-citation>closed"), "un ");
        assert_eq!(text("a <oai-mem and <b"), "a <oai-mem and <b");
        let said = Said::read(
            "cite\n<oai-mem-citation>\n<citation_entries>\nMEMORY.md:1-2|note=[hello]\nbad\n</citation_entries>\n<rollout_ids>\n01a1\n01a1\n</rollout_ids>\n</oai-mem-citation>\ntail",
            false,
        );
        assert_eq!(said.text, "cite\n\ntail");
        let citation = said.citation.unwrap();
        assert_eq!(citation.thread_ids, ["01a1"]);
        assert_eq!(citation.entries.len(), 1);
        let entry = &citation.entries[0];
        assert_eq!(
            (entry.path.as_str(), entry.note.as_str()),
            ("MEMORY.md", "hello")
        );
        assert_eq!((entry.line_start, entry.line_end), (1, 2));
        assert_eq!(
            Said::read("<oai-mem-citation>abc</oai-mem-citation>", false).citation,
            None
        );
    }

    #[test]
    fn a_piece_without_tags_is_passed_on_at_once_and_whole() {
        let mut heard = Vec::new();
        let mut filter = SpeechFilter::new(true);
        filter.push("one\ntwo\n\nthree", |speech| {
            heard.push(format!("{speech:?}"))
        });
        assert_eq!(heard, [r#"Text("one\ntwo\n\nthree")"#]);
    }

    /// Messages made of tags, halves of tags and words.
    fn message() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("<proposed_plan>"),
            Just("</proposed_plan>"),
            Just("<oai-mem-citation>"),
            Just("</oai-mem-citation>"),
            Just("\n"),
            Just(" "),
            Just("<"),
            Just("<proposed"),
            Just("_plan>"),
            Just("<oai-"),
            Just("word"),
            Just("é"),
            Just("\r\n"),
        ];
        proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
    }

    /// A message and places to cut it.
    fn cut_message() -> impl Strategy<Value = (String, Vec<usize>)> {
        message().prop_flat_map(|message| {
            let places: Vec<usize> = message.char_indices().map(|(at, _)| at).collect();
            let most = places.len();
            (Just(message), subsequence(places, 0..=most))
        })
    }

    fn told(pieces: &[&str], plan_mode: bool) -> Vec<String> {
        let mut heard: Vec<String> = Vec::new();
        let mut filter = SpeechFilter::new(plan_mode);
        let mut hear = |speech: Speech<'_>| {
            let (kind, text) = match speech {
                Speech::Text(text) => ("text:", text),
                Speech::PlanText(text) => ("plan:", text),
                Speech::PlanStart => ("start", ""),
                Speech::PlanEnd => ("end", ""),
            };
            match heard.last_mut() {
                Some(last) if last.starts_with(kind) && !text.is_empty() => last.push_str(text),
                _ => heard.push(format!("{kind}{text}")),
            }
        };
        for piece in pieces {
            filter.push(piece, &mut hear);
        }
        filter.finish(&mut hear);
        heard
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn how_a_message_is_cut_makes_no_difference((message, cuts) in cut_message(), plan_mode: bool) {
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in cuts {
                pieces.push(&message[start..cut]);
                start = cut;
            }
            pieces.push(&message[start..]);
            let whole = told(&[&message], plan_mode);
            prop_assert_eq!(told(&pieces, plan_mode), whole.clone());
            // Every plan that starts ends.
            let count = |kind: &str| whole.iter().filter(|told| told.as_str() == kind).count();
            prop_assert_eq!(count("start"), count("end"));
        }
    }
}
