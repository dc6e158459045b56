//! The desk's words: each [`Line`] as a text of the shop.

use chrono::{DateTime, Utc};

use super::effect::{Line, OnOffer};
use super::nodes::{Draft, Node};
use super::rules::CommerceRules;
use super::state::{Search, Wanted};
use super::texts::Text;
use super::tools::OrderView;
use super::{Commerce, Situation};
use crate::dialogue::Turn;
use crate::domain::calendar::day_of;
use crate::domain::commerce::payment::{Payment, PaymentProvider, PaymentStatus};
use crate::domain::commerce::sale::{CouponRefused, Offer, SaleLine, SaleStatus};
use crate::domain::commerce::tenant::PaymentMethod;
use crate::domain::commerce::{Money, Sale};
use crate::domain::language::NumberFormat;
use crate::replies::{MissingValue, Replies};
use crate::store::payments::PaymentNotice;

mod draft;
mod goods;

type TextResult = Result<String, MissingValue>;

/// Texts and formats of one language.
pub(super) struct Speaker<'a> {
    pub texts: &'a Replies<Text>,
    pub rules: &'a CommerceRules,
    pub format: &'a NumberFormat,
    pub hotline: &'a str,
    /// Writes the day of a time, in the shop's time zone.
    pub date: &'a dyn Fn(DateTime<Utc>) -> String,
    pub situation: &'a Situation,
}

impl Commerce {
    /// Returns the words of a line, and what a model may word of it.
    pub(super) fn words(
        &self,
        turn: &Turn,
        situation: &Situation,
        line: &Line,
    ) -> Result<(String, Option<(Node, Draft)>), MissingValue> {
        self.speak(turn, situation, |speaker| -> Result<_, MissingValue> {
            let text = speaker.line(line)?;
            let draft = speaker.draft(line, &text)?;
            Ok((text, draft))
        })
    }

    /// Puts the introduction before the first reply of a conversation where no page says that an AI answers.
    pub(super) fn introduced(&self, turn: &Turn, situation: &mut Situation, said: String) -> TextResult {
        match std::mem::take(&mut situation.must_introduce) {
            true => Ok(format!("{}\n\n{said}", self.speak(turn, situation, |speaker| speaker.intro())?)),
            false => Ok(said),
        }
    }

    fn speak<T>(&self, turn: &Turn, situation: &Situation, speak: impl FnOnce(&Speaker<'_>) -> T) -> T {
        let common = self.common.get(turn.language());
        speak(&Speaker {
            texts: self.texts_of(turn, situation),
            rules: &self.rules,
            format: &common.number_format,
            hotline: &common.hotline,
            date: &|at| common.date_format.format(day_of(at, self.services.shop.time_zone)),
            situation,
        })
    }
}

impl Speaker<'_> {
    fn text(&self, key: Text, values: &[(&str, &str)]) -> TextResult {
        self.texts.text(key, values)
    }

    fn plain(&self, key: Text) -> TextResult {
        self.text(key, &[("hotline", self.hotline)])
    }

    fn money(&self, amount: Money) -> String {
        amount.shown(self.format)
    }

    /// Returns the introduction: the shop's own, or the text. It always says that an AI answers.
    fn intro(&self) -> TextResult {
        let settings = &self.situation.tenant.settings;
        match settings.bot_intro.as_ref().filter(|_| self.situation.is_default_language) {
            Some(own) if self.rules.says_ai(own.as_str()) => Ok(own.as_str().to_owned()),
            Some(own) => Ok(format!("{} {}", own.as_str(), self.plain(Text::IsAi)?)),
            None => {
                let values = [("bot", settings.bot_name.as_str()), ("shop", settings.name.as_str())];
                self.text(Text::Intro, &values)
            }
        }
    }

    fn line(&self, line: &Line) -> TextResult {
        let settings = &self.situation.tenant.settings;
        let (shop, bot) = (settings.name.as_str(), settings.bot_name.as_str());
        match line {
            Line::Welcome => self.text(Text::Welcome, &[("intro", &self.intro()?)]),
            Line::Assistant => self.text(Text::Assistant, &[("bot", bot), ("shop", shop)]),
            Line::Redirect => self.text(Text::Redirect, &[("shop", shop)]),
            Line::NothingFound { words, with_link } => {
                let said = match words.is_empty() {
                    true => self.plain(Text::Nothing)?,
                    false => self.text(Text::NothingFound, &[("words", words)])?,
                };
                self.with_link(said, with_link.then(Search::default).as_ref())
            }
            Line::Options { items, total, link } => self.options(items, *total, link.as_ref()),
            Line::SameOptions(items) => self.options(items, items.len(), None),
            Line::AskDifferent { link } => self.with_link(self.plain(Text::AskDifferent)?, link.as_ref()),
            Line::Item(wanted) => Ok(format!("{} {}", self.item(wanted)?, self.ask_choices(wanted)?)),
            Line::Available(wanted) => {
                Ok(format!("{} {}", self.chosen(Text::Available, wanted)?, self.ask_choices(wanted)?))
            }
            Line::Compare(goods, known) => {
                let lines =
                    goods.iter().enumerate().map(|(at, wanted)| Ok(format!("{}. {}", at + 1, self.about(wanted)?)));
                let lines = lines.collect::<Result<Vec<_>, MissingValue>>()?.join("\n");
                self.answering(*known, format!("{lines}\n{}", self.plain(Text::PickOne)?))
            }
            Line::Cancelled(order) => self.text(Text::Cancelled, &[("order", order.as_str())]),
            Line::About(wanted, known) => self.answering(*known, self.about(wanted)?),
            Line::Sum(wanted) => self.sum(wanted),
            Line::Left(wanted) => Ok(format!("{} {}", self.left(wanted)?, self.ask_choices(wanted)?)),
            Line::Ranked(items, order) => self.ranked(items, *order),
            Line::NoPicture { link } => self.with_link(self.plain(Text::NoPicture)?, Some(link)),
            Line::CouponKept(code) => self.text(Text::CouponKept, &[("code", code)]),
            Line::Details(wanted, known) => {
                self.answering(*known, format!("{} {}", self.details(wanted)?, self.ask_choices(wanted)?))
            }
            Line::AskChoices(wanted) => self.ask_choices(wanted),
            Line::StillMissing(wanted) => {
                let choices = self.choices(wanted)?;
                self.text(Text::StillMissing, &[("name", &wanted.item.name), ("choices", &choices)])
            }
            Line::NoSuchChoice { item, choice } => {
                let choices: Vec<String> = item.variants.values().map(|choices| choices.join(", ")).collect();
                let choices = choices.join("; ");
                self.text(Text::NoSuchChoice, &[("name", &item.name), ("choice", choice), ("choices", &choices)])
            }
            Line::OwnNumber(phone) => self.text(Text::OwnNumber, &[("phone", phone.as_str())]),
            Line::SoldOut(name) => self.text(Text::SoldOut, &[("name", name)]),
            Line::Stock { name, left: 0 } => self.text(Text::SoldOut, &[("name", name)]),
            Line::Stock { name, left } => self.text(Text::Stock, &[("name", name), ("left", &left.to_string())]),
            Line::Cart { sale, offers, is_paid_next } => self.cart(sale, offers, *is_paid_next),
            Line::Offers(offers) => Ok(format!("{}\n{}", self.plain(Text::Offers)?, self.offers(offers)?)),
            Line::OffersOn(wanted, offers) => {
                let lines = offers.iter().map(|on| self.offer_on(wanted, on)).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("{}\n{}", lines.join("\n"), self.ask_choices(wanted)?))
            }
            Line::OtherNumber(total) => self.text(Text::OtherNumber, &[("total", &self.money(*total))]),
            Line::CouponApplied { code, sale } => {
                let (discount, total) = (self.money(sale.totals.discount), self.money(sale.totals.total));
                self.text(Text::CouponApplied, &[("code", code), ("discount", &discount), ("total", &total)])
            }
            Line::CouponRefused(refused) => match refused {
                CouponRefused::Unknown => self.plain(Text::CouponUnknown),
                CouponRefused::Ended => self.plain(Text::CouponEnded),
                CouponRefused::BelowMinimum(least) => self.text(Text::CouponBelow, &[("amount", &self.money(*least))]),
                CouponRefused::OtherGoods => self.plain(Text::CouponOther),
            },
            Line::Methods { methods, total } => {
                let mut lines = vec![self.text(Text::Methods, &[("total", &self.money(*total))])?];
                for (at, method) in methods.iter().enumerate() {
                    let (number, method) = ((at + 1).to_string(), self.plain(method_text(*method))?);
                    lines.push(self.text(Text::Method, &[("number", &number), ("method", &method)])?);
                }
                Ok(lines.join("\n"))
            }
            Line::Confirm { method, sale, phone } => {
                let (total, order) = (self.money(sale.totals.total), sale.id.as_str());
                let values = [("total", total.as_str()), ("order", order)];
                match method {
                    PaymentMethod::MpesaStk => {
                        let phone = phone.as_ref().map_or("", |phone| phone.as_str());
                        self.text(Text::ConfirmStk, &[&values[..], &[("phone", phone)]].concat())
                    }
                    PaymentMethod::MpesaC2b => self.text(Text::ConfirmC2b, &values),
                    PaymentMethod::Pesapal => self.text(Text::ConfirmPesapal, &values),
                }
            }
            Line::Asked => self.asked(),
            // The page's address may be far above by now.
            Line::Plain(Text::StillWaiting) if self.situation.page.is_some() => self.asked(),
            Line::Orders(orders) if orders.len() > 1 => {
                Ok(format!("{}\n{}", self.plain(Text::Orders)?, self.orders(orders)?))
            }
            Line::Orders(orders) => self.orders(orders),
            Line::PreferencesAre => {
                let consent = self.situation.shopper.consent;
                let on = |on| self.plain(if on { Text::On } else { Text::Off });
                let (marketing, notifications) = (on(consent.marketing)?, on(consent.notifications)?);
                self.text(Text::Preferences, &[("marketing", &marketing), ("notifications", &notifications)])
            }
            Line::HandedOver => {
                let minutes = settings.handoff.expected_wait_minutes.to_string();
                self.text(Text::HandedOver, &[("minutes", &minutes)])
            }
            Line::Plain(text) => self.plain(*text),
        }
    }

    fn offers(&self, offers: &[Offer]) -> TextResult {
        let mut lines = Vec::new();
        for offer in offers {
            let date = (self.date)(offer.ends_at);
            let values = [("code", offer.code.as_str()), ("terms", &offer.terms), ("date", &date)];
            lines.push(self.text(Text::Offer, &values)?);
        }
        Ok(lines.join("\n"))
    }

    /// Says what an offer makes of the price of an item.
    fn offer_on(&self, wanted: &Wanted, (offer, discount): &OnOffer) -> TextResult {
        let (name, price) = (wanted.item.name.as_str(), self.money(wanted.item.price));
        let values = [("name", name), ("price", &price), ("code", &offer.code), ("terms", &offer.terms)];
        match discount.as_ref().ok().and_then(|discount| wanted.item.price.minus(*discount).ok()) {
            Some(total) => self.text(Text::OfferOn, &[&values[..], &[("total", &self.money(total))]].concat()),
            None => self.text(Text::OfferNotOn, &values),
        }
    }

    fn orders(&self, orders: &[OrderView]) -> TextResult {
        Ok(orders.iter().map(|order| self.order(order)).collect::<Result<Vec<_>, _>>()?.join("\n"))
    }

    /// Adds the link to the shop's page with the words of the search, if the shop has one.
    fn with_link(&self, said: String, search: Option<&Search>) -> TextResult {
        let link = search.and_then(|search| self.situation.link(search));
        match link {
            Some(link) => Ok(format!("{said}\n{}", self.text(Text::Link, &[("link", &link)])?)),
            None => Ok(said),
        }
    }

    fn cart(&self, sale: &Sale, offers: &[Offer], is_paid_next: bool) -> TextResult {
        let mut lines = vec![self.text(Text::Cart, &[("order", sale.id.as_str())])?];
        for SaleLine { line, name, price } in &sale.lines {
            lines.push(self.cart_line(name, &line.choices, line.quantity, *price)?);
        }
        if let Some(code) = &sale.coupon {
            let discount = self.money(sale.totals.discount);
            lines.push(self.text(Text::Discount, &[("code", code), ("discount", &discount)])?);
        }
        lines.push(self.text(Text::Total, &[("total", &self.money(sale.totals.total))])?);
        for offer in offers {
            lines.push(self.text(Text::OfferHint, &[("code", &offer.code), ("terms", &offer.terms)])?);
        }
        if !is_paid_next {
            lines.push(format!("{} {}", self.plain(Text::Held)?, self.plain(Text::NextStep)?));
        }
        Ok(lines.join("\n"))
    }

    /// Says how to pay, and that it is a sandbox.
    fn asked(&self) -> TextResult {
        let Some(payment) = &self.situation.payment else { return self.plain(Text::StillWaiting) };
        let (total, order) = (self.money(payment.request.amount), payment.sale.as_str());
        let phone = payment.phone.as_ref().map_or("", |phone| phone.as_str());
        let paybill = self.situation.offers.pay_to.as_str();
        let page = self.situation.page.as_deref();
        let values = [("total", total.as_str()), ("order", order), ("phone", phone), ("paybill", paybill)];
        let values = [&values[..], &[("page", page.unwrap_or_default())]].concat();
        let asked = self.text(
            match payment.method {
                PaymentMethod::MpesaStk if payment.request.status == PaymentStatus::Unknown => Text::AskedUnknown,
                PaymentMethod::MpesaStk => Text::AskedStk,
                PaymentMethod::MpesaC2b if self.situation.offers.is_till => Text::AskedTill,
                PaymentMethod::MpesaC2b => Text::AskedC2b,
                PaymentMethod::Pesapal if page.is_some() => Text::AskedPage,
                PaymentMethod::Pesapal => Text::AskedPesapal,
            },
            &values,
        )?;
        match payment.provider {
            PaymentProvider::Sandbox => Ok(format!("{asked}\n{}", self.plain(Text::Sandbox)?)),
            PaymentProvider::Daraja | PaymentProvider::Pesapal => Ok(asked),
        }
    }

    fn order(&self, view: &OrderView) -> TextResult {
        let receipt = view.receipt.as_deref().unwrap_or("-");
        let status = match (view.status, view.payment_status) {
            (SaleStatus::Paid, Some(PaymentStatus::Reversed)) => self.plain(Text::PaymentReversed)?,
            (SaleStatus::Paid, _) => self.text(Text::StatusPaid, &[("receipt", receipt)])?,
            (SaleStatus::Draft | SaleStatus::Cancelled, Some(PaymentStatus::Reversed)) => {
                self.plain(Text::PaymentReversed)?
            }
            // Money arrived that did not settle the order.
            (SaleStatus::Draft | SaleStatus::Cancelled, Some(PaymentStatus::Paid)) => self.plain(Text::PayReview)?,
            (SaleStatus::Draft, Some(status)) if status.is_open() => self.plain(Text::PaymentPending)?,
            (SaleStatus::Draft, Some(PaymentStatus::Failed)) => {
                format!("{} {}", self.plain(Text::StatusDraft)?, self.plain(Text::PaymentFailed)?)
            }
            // The customer may have paid, so that the order is not said to be unpaid.
            (SaleStatus::Draft, Some(PaymentStatus::Timeout)) => self.plain(Text::PaymentUnknown)?,
            (SaleStatus::Draft, _) => self.plain(Text::StatusDraft)?,
            (SaleStatus::Cancelled, _) => self.plain(Text::StatusCancelled)?,
        };
        let goods: Vec<String> =
            view.sale.lines.iter().map(|line| format!("{} × {}", line.line.quantity, line.name)).collect();
        let (goods, total) = (goods.join(", "), self.money(view.sale.totals.total));
        let order = view.order_id.as_str();
        self.text(Text::Order, &[("order", order), ("status", &status), ("total", &total), ("goods", &goods)])
    }
}

/// Returns the message about the end of a payment; `None` while it is open.
pub(super) fn result(
    texts: &Replies<Text>,
    format: &NumberFormat,
    payment: &Payment,
    notice: &PaymentNotice,
) -> Result<Option<String>, MissingValue> {
    let receipt = payment.shown_receipt();
    let total = payment.request.amount.shown(format);
    let values = [("order", payment.sale.as_str()), ("total", &total), ("receipt", receipt.unwrap_or_default())];
    let key = match (notice.problem, notice.status) {
        (None | Some(_), PaymentStatus::Reversed) => Text::ResultReversed,
        (Some(_), _) => Text::ResultProblem,
        (None, PaymentStatus::Paid) if receipt.is_none() => Text::ResultPaidPlain,
        (None, PaymentStatus::Paid) => Text::ResultPaid,
        (None, PaymentStatus::Failed) => Text::ResultFailed,
        (None, PaymentStatus::Timeout) if notice.has_no_result => Text::ResultUnknown,
        (None, PaymentStatus::Timeout) => Text::ResultTimeout,
        (None, PaymentStatus::Created | PaymentStatus::Pending | PaymentStatus::Unknown) => return Ok(None),
    };
    texts.text(key, &values).map(Some)
}

pub(super) fn method_text(method: PaymentMethod) -> Text {
    match method {
        PaymentMethod::MpesaStk => Text::MpesaStk,
        PaymentMethod::MpesaC2b => Text::MpesaC2b,
        PaymentMethod::Pesapal => Text::Pesapal,
    }
}
