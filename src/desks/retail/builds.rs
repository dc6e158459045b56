//! Sample builds: computers that a page sells as a whole, and what changes when the customer replaces a part.

use super::Retail;
use super::context::About;
use super::memory::{Bundle, Current, Memory};
use super::products::{Asked, FitTogether};
use super::texts::Text;
use super::topics::{Candidate, heading};
use crate::desks::{DeskError, Turn};
use crate::dialogue::answer;
use crate::dialogue::shown::Shown;
use crate::domain::Kind;
use crate::nlu::pick::Sign;
use crate::replies::MissingValue;
use crate::retrieval::mention::{Level, Mention, Near};
use crate::retrieval::rows::Row;
use crate::retrieval::search::{By, Found};
use crate::retrieval::{Passage, Query, Subject};

/// Sections that are searched for a build.
const SECTIONS: usize = 40;
/// "About 40 million" also buys what costs so much more, in percent.
const ABOUT: u64 = 110;
/// The most lines about what a new part fits.
const FITS: usize = 3;

/// What a message asks of the build that the conversation is about.
#[derive(Debug)]
pub(super) struct Build {
    /// The build, with what the customer replaces.
    bundle: Bundle,
    /// The new part, and whether it fits the others.
    part: Option<(Row, Vec<FitTogether>)>,
    asks_fit: bool,
    count: u64,
}

impl Retail {
    /// Returns the build of a page that a wish for a computer describes, within its budget.
    pub(super) fn wished_build(&self, turn: &Turn, asked: &Asked<'_>) -> Option<(Candidate, Passage)> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let most = pages.budget(asked.wish).most;
        let asks_price = || !asked.is_shop && self.picks.without_attributes(asked.wish).is_some();
        let is_wish = self.picks.says(Sign::Set, asked.wish)
            && !asked.is_look_up
            && asked.mentions.iter().all(|mention| mention.level == Level::Brand)
            && (most.is_some() || asked.is_product || asks_price());
        if !is_wish {
            return None;
        }
        let query = Query { text: asked.wish.to_owned(), language, limit: SECTIONS, pages_only: true };
        let sections = pages.nearest_sections(&query).into_iter();
        let mut builds = sections.filter_map(|page| Some((self.picks.bundle_price(&page.text)?, page)));
        // Without a budget, the purpose decides.
        let says_purpose = |page: &Passage| {
            let (heading, first) = (heading(&page.section), page.text.lines().next().unwrap_or_default());
            pages.words_met(asked.wish, &format!("{heading}. {first}"), language) > 0
        };
        let (_, page) = builds.find(|(price, page)| match most {
            Some(most) => price * 100 <= most * ABOUT,
            None => says_purpose(page),
        })?;
        let candidate =
            Candidate { file: page.file.clone(), section: page.section.clone(), asked: asked.text.to_owned() };
        Some((candidate, page))
    }

    /// Returns the build that a section sells.
    pub(super) fn bundle_of(&self, turn: &Turn, page: &Passage) -> Option<Bundle> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let price = self.picks.bundle_price(&page.text)?;
        let lines: Vec<&str> = page.text.lines().filter(|line| line.starts_with('-')).collect();
        let parts = pages.categories(&lines.join("\n"), language);
        let listed = lines.join("\n");
        let has_whole_name = |row: &Row| !pages.names_more_than(&row.passage.title, &listed, language);
        // Of "8GB" and "16GB (2x8GB)", the longer name says more.
        let named = |kind: &String| {
            let rows = pages.rows_of_category(kind, "", language).into_iter();
            rows.filter(has_whole_name).max_by_key(|row| row.passage.title.len())
        };
        let mut rows: Vec<Row> = parts.iter().filter_map(named).collect();
        // A page may shorten a name.
        for piece in lines.iter().flat_map(|line| line.split(", ")) {
            for mention in pages.mentions(piece, Near::default(), language) {
                let row = mention.rows.into_iter().min_by_key(|row| row.passage.title.len());
                let is_new = |row: &Row| rows.iter().all(|known| known.passage.section != row.passage.section);
                let is_new = row.as_ref().is_some_and(is_new) && mention.level > Level::Brand;
                rows.extend(row.filter(|_| is_new));
            }
        }
        let adds_up = rows.iter().map(|row| row.price.unwrap_or_default()).sum::<u64>() == price;
        let products = rows.into_iter().filter(|_| adds_up).map(|row| row.passage.title).collect();
        let (file, section) = (page.file.clone(), page.section.clone());
        let name = heading(&page.section).to_owned();
        Some(Bundle { name, price, parts, products, swaps: Vec::new(), file, section })
    }

    /// Returns what a message asks of the build of the conversation: another part in it, whether a part fits, or its price.
    pub(super) fn asked_build(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<Build> {
        let bundle = memory.bundle.as_ref().filter(|_| !asked.is_look_up)?;
        let (picks, text) = (&self.picks, asked.text);
        let shown = memory.shown.as_ref();
        let is_new_part = |shown: &Shown| bundle.swaps.iter().any(|(_, new)| shown.products.contains(new));
        let is_current = match memory.current {
            Some(Current::Page) => memory.subject.as_ref().is_some_and(|subject| subject.file == bundle.file),
            Some(Current::Products) => shown.is_some_and(is_new_part),
            _ => false,
        };
        let asks_fit = picks.says(Sign::Fits, text);
        if (picks.says(Sign::Swap, text) || (asks_fit && (is_current || picks.says(Sign::Set, text))))
            && let Some(build) = self.new_part(turn, asked, bundle, asks_fit)
        {
            return Some(build);
        }
        let pieces = picks.pieces(text).filter(|pieces| *pieces > 1);
        let is_total = asked.mentions.is_empty() && (picks.says(Sign::Total, text) || pieces.is_some());
        let kinds = self.services.pages(turn).categories(text, turn.language());
        let names_other = kinds.iter().any(|kind| !bundle.parts.contains(kind));
        let count = pieces.unwrap_or(1);
        let build = || Build { bundle: bundle.clone(), part: None, asks_fit: false, count };
        (is_total && is_current && !names_other).then(build)
    }

    /// Returns the build with the part that the message names or describes.
    fn new_part(&self, turn: &Turn, asked: &Asked<'_>, bundle: &Bundle, asks_fit: bool) -> Option<Build> {
        let (pages, language) = (self.services.pages(turn), turn.language());
        let named_kinds = pages.categories(asked.text, language);
        let is_part = |row: &&Row| bundle.parts.contains(&row.passage.section);
        let of_kind = |row: &Row| named_kinds.contains(&row.passage.section);
        let sure = asked.mentions.iter().filter(|mention| mention.level > Level::Brand);
        let mut named: Vec<Row> = sure.flat_map(|Mention { rows, .. }| rows).filter(is_part).cloned().collect();
        named.sort_by_key(|row| !of_kind(row));
        let kept = |section: &str| {
            let names: Vec<String> = bundle.now().cloned().collect();
            let rows = pages.rows(&names, language).into_iter().flatten();
            rows.filter(|row| row.passage.section != section).collect::<Vec<Row>>()
        };
        let described = || {
            let kind = named_kinds.iter().find(|kind| bundle.parts.contains(kind))?;
            let rows = pages.rows_of_category(kind, asked.text, language);
            let others = kept(kind);
            let fits = |row: &Row| others.iter().all(|other| self.fit(turn, row, other).is_none_or(|(fits, ..)| fits));
            let told = pages.rows_told(&rows, asked.text, language).into_iter();
            told.filter(|row| row.in_stock && fits(row)).min_by_key(|row| row.price)
        };
        let part = match named.into_iter().next() {
            Some(row) => row,
            None if asked.mentions.is_empty() => described()?,
            None => return None,
        };
        let title = part.passage.title.clone();
        let old = pages.rows(&bundle.products, language).into_iter().flatten();
        let old = old.into_iter().find(|row| row.passage.section == part.passage.section)?.passage.title;
        let mut fits: Vec<FitTogether> = Vec::new();
        for other in kept(&part.passage.section) {
            if let Some((fit, value, of_other)) = self.fit(turn, &part, &other) {
                let names = [title.clone(), other.passage.title];
                fits.push(FitTogether { fits: fit, names, values: [value, of_other] });
            }
        }
        let mut bundle = bundle.clone();
        bundle.swaps.retain(|(known, _)| *known != old);
        // What does not fit does not join the build.
        if old != title && fits.iter().all(|fit| fit.fits) {
            bundle.swaps.push((old, title));
        }
        Some(Build { bundle, part: Some((part, fits)), asks_fit, count: 1 })
    }

    /// Says what a part costs in the build, whether it fits, and the new price.
    pub(super) async fn reply_build(
        &self,
        turn: &mut Turn,
        build: Build,
        memory: &mut Memory,
    ) -> Result<(), DeskError> {
        let Build { bundle, part, asks_fit, count } = build;
        let (pages, language) = (self.services.pages(turn), turn.language());
        let page = pages.section(&bundle.file, &bundle.section, language);
        let part_row = part.as_ref().map(|(row, _)| row.passage.clone());
        let passages: Vec<Passage> = part_row.iter().cloned().chain(page.clone()).collect();
        let said = self.quote_build(turn, &bundle, part.as_ref(), asks_fit, count)?;
        let found = Found { passages: passages.clone(), by: By::Words, similarity: None, question: None };
        let Some(metadata) = answer::cite(turn, &found, &passages).await? else {
            let unknown = self.text(turn, Text::ReplyUnknown, &[])?;
            answer::say_unknown(turn, &unknown).await?;
            return self.follow_up(turn).await;
        };
        if let Some((row, _)) = part {
            let shown = memory.shown.take().unwrap_or_default();
            let about = shown.instead(vec![row]).shown;
            memory.shown = Some(about.after(Some(&shown), &pages, language));
            memory.current = Some(Current::Products);
        }
        memory.subject = page.map(|page| Subject::of(&page, &turn.message.text));
        memory.bundle = Some(bundle);
        turn.say_with(Kind::Reply, &said, metadata).await?;
        self.follow_up(turn).await
    }

    fn quote_build(
        &self,
        turn: &Turn,
        bundle: &Bundle,
        part: Option<&(Row, Vec<FitTogether>)>,
        asks_fit: bool,
        count: u64,
    ) -> Result<String, MissingValue> {
        let mut lines: Vec<String> = Vec::new();
        let mut is_in = true;
        if let Some((row, fits)) = part {
            is_in = fits.iter().all(|fit| fit.fits);
            for fit in fits.iter().filter(|fit| fit.fits == is_in).take(FITS) {
                lines.push(self.said_fit(turn, fit)?);
            }
            if asks_fit && fits.is_empty() {
                lines.push(self.text(turn, Text::ReplyNotSaid, &[])?);
            }
            lines.extend(self.quotes(turn, std::slice::from_ref(&row.passage))?);
        }
        if is_in {
            let (of_bundle, sum) = self.bundle_lines(turn, bundle, count)?;
            lines.extend(of_bundle);
            lines.push(self.text(turn, Text::ReplyTotal, &[("sum", &self.price(turn, sum))])?);
        }
        let sold_out = part.map(|(row, _)| row.passage.clone());
        Ok(lines.join("\n") + &self.instead(turn, sold_out.as_slice())?)
    }

    /// Returns the lines of a build with the parts that are replaced, and its price.
    pub(super) fn bundle_lines(
        &self,
        turn: &Turn,
        bundle: &Bundle,
        count: u64,
    ) -> Result<(Vec<String>, u64), MissingValue> {
        let price_of = |name: &String| {
            let rows = self.services.pages(turn).rows(std::slice::from_ref(name), turn.language());
            rows.into_iter().flatten().next().and_then(|row| row.price).unwrap_or_default()
        };
        let line =
            [("name", bundle.name.as_str()), ("count", &count.to_string()), ("price", &self.price(turn, bundle.price))];
        let mut lines = vec![self.text(turn, Text::ReplyTotalLine, &line)?];
        let mut price = bundle.price;
        for (old, new) in &bundle.swaps {
            let (of_old, of_new) = (price_of(old), price_of(new));
            let sign = if of_new < of_old { "-" } else { "+" };
            let difference = format!("{sign}{}", self.price(turn, of_new.abs_diff(of_old)));
            price = (price + of_new).saturating_sub(of_old);
            let values = [("name", new.as_str()), ("old", old), ("difference", &difference)];
            lines.push(self.text(turn, Text::ReplyBuildSwap, &values)?);
        }
        Ok((lines, price * count))
    }

    /// Takes what a message says of a build for what it is about.
    pub(super) fn about_build(&self, turn: &Turn, asked: &Asked<'_>, memory: &Memory) -> Option<About> {
        if let Some(build) = self.asked_build(turn, asked, memory) {
            return Some(About { build: Some(build), ..About::default() });
        }
        let topic = self.wished_build(turn, asked)?;
        Some(About { topic: Some(topic), ..About::default() })
    }
}

impl Bundle {
    /// Returns its parts after what the customer replaces.
    fn now(&self) -> impl Iterator<Item = &String> {
        self.products
            .iter()
            .map(|product| self.swaps.iter().find(|(old, _)| old == product).map_or(product, |(_, new)| new))
    }
}
