//! The texts of lines that name no values.

use crate::desks::commerce::effect::Line;
use crate::desks::commerce::texts::Text;

/// Returns the text of a line without values.
pub(super) fn simple_text(line: &Line) -> Text {
    match line {
        Line::Restarted => Text::Restarted,
        Line::Thanks => Text::Thanks,
        Line::Goodbye => Text::Goodbye,
        Line::SmallTalk => Text::SmallTalk,
        Line::AskNeed => Text::AskNeed,
        Line::Clarify => Text::Clarify,
        Line::LanguageAck => Text::LanguageAck,
        Line::TakeTime => Text::TakeTime,
        Line::TooMany => Text::TooMany,
        Line::PriceChanged => Text::PriceChanged,
        Line::EmptyCart => Text::EmptyCart,
        Line::Dropped => Text::Dropped,
        Line::Settled => Text::Settled,
        Line::NoOffers => Text::NoOffers,
        Line::NoMethods => Text::NoMethods,
        Line::TooLarge => Text::TooLarge,
        Line::NothingToPay => Text::NothingToPay,
        Line::AskPhone => Text::AskPhone,
        Line::AskCardPhone => Text::AskCardPhone,
        Line::NextStep => Text::NextStep,
        Line::NotPaid => Text::NotPaid,
        Line::StillWaiting => Text::StillWaiting,
        Line::PayOpen => Text::PayOpen,
        Line::AlreadyPaid => Text::AlreadyPaid,
        Line::PayReview => Text::PayReview,
        Line::NoPayment => Text::NoPayment,
        Line::PriceFixed => Text::PriceFixed,
        Line::PersonWaiting => Text::PersonWaiting,
        Line::NoOrders => Text::NoOrders,
        Line::StillNoOrders => Text::StillNoOrders,
        Line::RestockUnknown => Text::RestockUnknown,
        Line::CancelOnPhone => Text::CancelOnPhone,
        Line::AskPreference => Text::AskPreference,
        Line::NobodyCalled => Text::NobodyCalled,
        Line::PersonDecides => Text::PersonDecides,
        Line::TryLater => Text::TryLater,
        Line::OfferPerson => Text::OfferPerson,
        Line::Sorry => Text::Sorry,
        Line::NotInCart => Text::NotInCart,
        Line::NeverSend => Text::NeverSend,
        Line::NotKnown => Text::NotKnown,
        Line::ReasonUnknown => Text::ReasonUnknown,
        Line::PaybillLater => Text::PaybillLater,
        _ => Text::Unclear,
    }
}
