//! Answers general questions about returns with quotes from the shop's documents.

use serde_json::Value;

use super::Returns;
use super::aside::Aside;
use super::facts::Fact;
use super::route::{Handler, Step, route};
use super::rules::{Topic, Utterance};
use super::scenario::Scenario;
use super::state::{Intent, OrderSnapshot, Phase, Progress, Question, State};
use super::texts::VariantPicker;
use crate::desks::{DeskError, Turn};
use crate::dialogue::{answer, retrieve};
use crate::domain::commerce::OrderStatus;
use crate::domain::returns::Action;
use crate::domain::text::sentences::sentences;
use crate::domain::{Kind, Language, Message, Metadata, Sender};
use crate::nlu::long_text::read_text;
use crate::persona::texts::fill;
use crate::retrieval::search::{By, Found};
use crate::retrieval::{Passage, Query, Subject};

/// How many passages are searched, and how many questions of a message are answered at once.
const SEARCHED: usize = 4;
const QUOTES: usize = 2;
/// The score from which a passage answers better than the news that a person is still deciding.
const SURE: f64 = 0.8;

impl Returns {
    /// Whether the documents answer a message that the flow can do nothing with. A customer who hesitates over a yes, or who argues
    /// against a refusal, gets no quotes instead.
    pub(super) fn documents_answer(
        &self,
        turn: &Turn,
        (before, after): (&State, &State),
        utterance: &Utterance,
        text: &str,
    ) -> bool {
        let asks_for_yes = before.open_question().is_some_and(Question::is_for_yes);
        let is_unclear = match route(after) {
            Step::Run(Handler::ClassifyIntent) => !before.may_argue() || utterance.has_question(),
            // The same question would be repeated.
            Step::Ask(question) if before.open_question() == Some(question) && !has_changed(before, after) => {
                let asks = utterance.has_question();
                if asks_for_yes { asks || !utterance.hesitates() } else { after.case.message.help.is_none() }
            }
            // A question is answered before the desk asks whose order it is.
            Step::Ask(Question::OrderNumber | Question::Contact) => asks_in_general(utterance),
            // So is one while a person decides.
            _ => {
                is_with_person(before) && asks_in_general(utterance) && !utterance.intent.is_some_and(Intent::is_return)
            }
        };
        let is_social = utterance.greets() || utterance.says_goodbye();
        if !is_unclear || is_social || utterance.names_order_or_contact() {
            return false;
        }
        // "Is that final?" is about the yes, and not about final sale.
        if is_with_person(before) || (asks_for_yes && utterance.has_question()) {
            return self.has_sure_answer(turn, text) || !self.sure_parts(turn, before, text).is_empty();
        }
        self.has_answer(turn, before, text, utterance.has_question())
    }

    /// Returns how likely the best section is to answer a message, whatever the conversation is about.
    pub(super) fn most_likely(&self, turn: &Turn, text: &str) -> f64 {
        let likely = self.services.pages(turn).likely_sections(&search(text, turn.language()), None);
        likely.first().map_or(0.0, |best| best.score)
    }

    /// Whether a passage answers a question for certain.
    pub(super) fn has_sure_answer(&self, turn: &Turn, text: &str) -> bool {
        let find = || self.services.pages(turn).find_by_words(&search(text, turn.language()));
        read_text(text.len(), || find().passages.first().is_some_and(|best| best.score >= SURE))
    }

    /// Whether the documents answer a message in the conversation.
    pub(super) fn has_answer(&self, turn: &Turn, state: &State, text: &str, is_question: bool) -> bool {
        let pages = self.services.pages(turn);
        let (query, topic) = (search(text, turn.language()), self.topic(turn, state));
        read_text(text.len(), || answer::is_answered(&pages, &query, topic.as_ref(), is_question))
    }

    /// Returns what the conversation is about, if that is a part of the documents: what was quoted last, or what follows from a
    /// ticket or a return.
    fn topic(&self, turn: &Turn, state: &State) -> Option<Subject> {
        let lines = &self.texts(turn).lines;
        let words = match state {
            _ if state.meta.topic.is_some() => return state.meta.topic.clone(),
            _ if is_with_person(state) => &lines.about_ticket,
            _ if state.action() == Some(Action::Cancel) => return None,
            _ if state.action_ticket().is_some() => &lines.about_return,
            _ => return None,
        };
        let query = Query { text: words.clone(), language: turn.language(), limit: 1, pages_only: true };
        let found = self.services.pages(turn).find_by_words(&query);
        Some(Subject::of(found.passages.first()?, words))
    }

    /// Says until when the conversation's order may come back. Without a known window, the documents answer in general.
    pub(super) async fn answer_deadline(
        &self,
        turn: &mut Turn,
        state: &mut State,
        question: &str,
    ) -> Result<(), DeskError> {
        let Some((number, items, last_days)) = self.last_days(turn, state).await? else {
            let is_under_way =
                |order: &OrderSnapshot| matches!(order.status, OrderStatus::Pending | OrderStatus::Shipped);
            return match state.order().is_some_and(is_under_way) {
                true => self.answer_fact(turn, state, Fact::Window, question).await,
                false => self.answer_question(turn, state, question).await,
            };
        };
        let dates = &self.common.get(turn.language()).date_format;
        let [for_return, for_refund] = last_days.map(|day| dates.format(day));
        let values = [
            ("order_number", number.as_str()),
            ("item_names", items.as_str()),
            ("return_until", for_return.as_str()),
            ("refund_until", for_refund.as_str()),
        ];
        self.send(turn, state, Kind::Reply, Scenario::Deadline, &values).await
    }

    /// Says how much money comes back for the conversation's order: for what the desk asks about, or for the return that was made
    /// last. Otherwise the documents answer in general.
    pub(super) async fn answer_amount(
        &self,
        turn: &mut Turn,
        state: &mut State,
        question: &str,
    ) -> Result<(), DeskError> {
        let Some(order) = state.order().cloned() else { return self.answer_question(turn, state, question).await };
        let all = || order.items.iter().map(|item| item.line).collect();
        // What a person decides about has no certain amount.
        let is_offered = state.open_question() == Some(Question::OfferCancel);
        let is_certain = |progress: &Progress| {
            let is_eligible = progress.decision().is_some_and(|decision| decision.eligible);
            is_offered || is_eligible || progress.action() == Some(Action::Cancel)
        };
        let subject = state.subject().filter(|subject| is_certain(&subject.progress));
        let asked = subject.and_then(|subject| Some((subject.lines.clone().unwrap_or_else(all), subject.refund?)));
        let known = match asked {
            Some(known) => Some(known),
            None => {
                let mut made = self.store_of(turn).list_rmas_of(&order.number).await?;
                made.retain(|rma| !rma.status.is_rejected() && !rma.escalated);
                made.pop().map(|rma| (rma.lines.iter().map(|line| line.line).collect(), rma.refund))
            }
        };
        let Some((lines, amount)) = known else { return self.answer_goods_price(turn, state, question).await };
        let items = self.item_names(turn, &order, &lines);
        let amount = amount.shown(&self.common.get(turn.language()).number_format);
        let values = [
            ("order_number", order.number.as_str()),
            ("item_names", items.as_str()),
            ("refund_amount", amount.as_str()),
        ];
        self.send(turn, state, Kind::Reply, Scenario::Amount, &values).await
    }

    /// Answers with quotes and their sources, or says that the documents have no answer.
    pub(super) async fn answer_question(
        &self,
        turn: &mut Turn,
        state: &mut State,
        question: &str,
    ) -> Result<(), DeskError> {
        let parts = self.sure_parts(turn, state, question);
        if parts.len() > 1 || (parts.len() == 1 && !self.has_sure_answer(turn, question)) {
            return self.quote(turn, state, question, (Scenario::PolicyIntro, by_words(parts))).await;
        }
        let (language, pages) = (turn.language(), self.services.pages(turn));
        let query = |text: &str| search(text, language);
        let knowledge = self.services.knowledge.clone();
        let topic = self.topic(turn, state).or_else(|| Some(Subject::shop()));
        let find = retrieve::find_about(&knowledge, turn, question, query, topic.as_ref());
        let mut found = turn.step("retrieve").take(find).await;
        if found.passages.is_empty() {
            // "Perfect. One more thing: can I use another box?"
            let by_clauses = || retrieve::find_by_clauses(&pages, &query(question), topic.as_ref());
            found.passages = read_text(question.len(), by_clauses);
        }
        let quoted: Vec<Passage> = answer::worth_quoting(&pages, &query(question), &found.passages).to_vec();
        if let Some(best) = quoted.first().filter(|best| was_just_quoted(turn, best)) {
            let Some((intro, passage)) = self.beyond_quote(turn, question, best, (&quoted, &found.passages)) else {
                let hotline = self.hotline(turn).to_owned();
                let values = [("hotline", hotline.as_str())];
                return self.send(turn, state, Kind::Reply, Scenario::PolicySaid, &values).await;
            };
            return self.quote(turn, state, question, (intro, Found { passages: vec![passage], ..found })).await;
        }
        self.quote(turn, state, question, (Scenario::PolicyIntro, Found { passages: quoted, ..found })).await
    }

    /// Returns what answers a question if the best section was quoted just now: the sentence about it, another section, or the whole
    /// section again. `None` if that is one sentence, which says no more the second time.
    fn beyond_quote(
        &self,
        turn: &Turn,
        question: &str,
        best: &Passage,
        (near, found): (&[Passage], &[Passage]),
    ) -> Option<(Scenario, Passage)> {
        let (pages, query) = (self.services.pages(turn), search(question, turn.language()));
        let says_enough = !pages.names_nothing(&query);
        let has_most = |passage: &Passage| pages.has_most_of(question, passage, turn.language());
        let is_other = |other: &&Passage| says_enough && !was_just_quoted(turn, other);
        // The subject of the conversation may hide a section that answers better.
        let alone = read_text(question.len(), || pages.find_by_words(&query));
        let sure = alone.passages.into_iter().next().filter(|best| best.score >= SURE);
        let all = sentences(&best.text);
        let part = |text: &str| Passage { text: text.to_owned(), ..best.clone() };
        let untitled = |text: &str| Passage { title: String::new(), section: String::new(), ..part(text) };
        let mut about = all.iter().filter(|text| has_most(&untitled(text)));
        let sentence = about.next().filter(|_| says_enough && all.len() > 1).map(|text| part(text));
        let other = near.iter().find(is_other).or_else(|| found.iter().filter(is_other).find(|other| has_most(other)));
        let other = other.or(sure.as_ref().filter(is_other)).cloned();
        let is_meant = !says_enough || sure.is_some_and(|sure| sure.text == best.text);
        let intro = if is_meant { Scenario::PolicyAgain } else { Scenario::PolicySaid };
        let again = (all.len() > 1).then(|| (intro, best.clone()));
        sentence.or(other).map(|passage| (Scenario::PolicyIntro, passage)).or(again)
    }

    /// Returns the sections that answer the questions of a message for certain, apart from those that the shop's data answer: "how long
    /// have I got, and what does it cost?"
    pub(super) fn sure_parts(&self, turn: &Turn, state: &State, text: &str) -> Vec<Passage> {
        let pages = self.services.pages(turn);
        let clauses = read_text(text.len(), || pages.clauses(&search(text, turn.language())));
        let mut parts: Vec<Passage> = Vec::new();
        for clause in clauses.into_iter().flatten() {
            if parts.len() == QUOTES {
                break;
            }
            let utterance = self.rules.parse(&clause);
            let is_general = matches!(Aside::of(state, &utterance, None), None | Some(Aside::Policy { .. }));
            let asks = utterance.has_question() && utterance.asks(Topic::Policy) && utterance.intent.is_none();
            if !is_general || !asks {
                continue;
            }
            let found = read_text(clause.len(), || pages.find_by_words(&search(&clause, turn.language())));
            let best = found.passages.into_iter().next().filter(|best| best.score >= SURE);
            let is_new =
                |best: &Passage| !was_just_quoted(turn, best) && parts.iter().all(|part| part.text != best.text);
            parts.extend(best.filter(is_new));
        }
        parts
    }

    /// Quotes the sections that answer the other questions of a message, unless the documents have answered this message already.
    pub(super) async fn quote_parts(
        &self,
        turn: &mut Turn,
        state: &mut State,
        question: &str,
        parts: Vec<Passage>,
    ) -> Result<(), DeskError> {
        let is_answered = state.meta.topic.as_ref().is_some_and(|topic| topic.asked == question);
        if parts.is_empty() || is_answered {
            return Ok(());
        }
        self.quote(turn, state, question, (Scenario::PolicyIntro, by_words(parts))).await
    }

    /// Quotes passages with their sources. Without any, says that the documents have no answer.
    pub(super) async fn quote(
        &self,
        turn: &mut Turn,
        state: &mut State,
        question: &str,
        (intro, mut found): (Scenario, Found),
    ) -> Result<(), DeskError> {
        let pages = self.services.pages(turn);
        let excerpt = |passage: &Passage| pages.excerpt(question, passage, turn.language());
        let excerpts: Vec<String> = found.passages.iter().map(excerpt).collect();
        found.passages.iter_mut().zip(excerpts).for_each(|(passage, excerpt)| passage.text = excerpt);
        let passages = found.passages.as_slice();
        let topic = passages.first().map(|best| Subject::of(best, question));
        state.meta.topic = topic.or_else(|| self.topic(turn, state));
        let metadata = answer::cite(turn, &found, passages).await?;
        let texts = self.texts.get(answer::language_of(turn, passages));
        let Some(metadata) = metadata else {
            let hotline = self.hotline(turn).to_owned();
            let text = (Scenario::PolicyUnknown, &[("hotline", hotline.as_str())][..]);
            let metadata = Metadata::of(Kind::Reply).with("no_context", true);
            return self.send_with(turn, state, Kind::Reply, text, metadata).await;
        };
        let mut variants = VariantPicker::new(&texts.replies, &state.meta.said);
        let quote = |passage: &Passage| {
            let text = pages.emphasized(question, &passage.text, turn.language());
            fill(&texts.lines.quote, &[("title", title(passage)), ("text", &text)])
        };
        let intro = variants.text(intro, &[("hotline", self.hotline(turn))])?;
        state.meta.said.extend(variants.used());
        let text = answer::quotation(intro, passages.iter().map(quote));
        turn.say_with(Kind::Reply, &text, metadata).await?;
        Ok(())
    }
}

/// Returns the search for a text, in the language of the turn.
fn search(text: &str, language: Language) -> Query {
    Query { text: text.to_owned(), language, limit: SEARCHED, pages_only: false }
}

/// Returns passages that were found by their words alone.
fn by_words(passages: Vec<Passage>) -> Found {
    Found { passages, by: By::Words, similarity: None, question: None }
}

/// Whether the desk's last answer quoted the passage, and nothing else.
fn was_just_quoted(turn: &Turn, passage: &Passage) -> bool {
    let is_customers = |message: &&Message| message.sender == Sender::User;
    let earlier = turn.history.iter().rev().skip_while(is_customers);
    let quotes_one = |message: &Message| {
        message.metadata.0.get("sources").and_then(Value::as_array).is_some_and(|all| all.len() == 1)
    };
    let mut last = earlier.take_while(|message| !is_customers(message));
    last.any(|message| quotes_one(message) && answer::has_quoted(message, &passage.text))
}

pub(super) fn is_with_person(state: &State) -> bool {
    state.phase == Phase::Over && state.handoff.ticket().is_some()
}

/// Whether the message asks something that is not about the customer's own order.
fn asks_in_general(utterance: &Utterance) -> bool {
    let is_own = utterance.wants(Intent::OrderStatus)
        || utterance.asks(Topic::ReturnStatus)
        || utterance.asks(Topic::Ticket)
        || utterance.requests(Topic::Label);
    utterance.has_question() && !is_own && !utterance.wants_person()
}

/// Whether the message said something about what the customer wants.
pub(super) fn has_changed(before: &State, after: &State) -> bool {
    before.case.intent != after.case.intent
        || (before.case.some_pieces, before.case.pieces) != (after.case.some_pieces, after.case.pieces)
}

/// The section says more than the page's title.
fn title(passage: &Passage) -> &str {
    if passage.section.is_empty() { &passage.title } else { &passage.section }
}
