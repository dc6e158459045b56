//! Claims of a language model that only an action of the desk can make true. The words are data
//! (`prompts/rules/claims.toml`).

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::Error as _;

use crate::desks::wording::{InvalidPattern, Lexicon, Pattern, Wording};
use crate::persona::{PromptError, Prompts};

/// Something that is true only if a tool made it so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A return, a refund or a ticket was made.
    Made,
    /// The money was paid.
    Refunded,
    Mailed,
    /// A person of the shop knows.
    HandedOver,
    /// It may come back.
    Eligible,
    /// It may not.
    Refused,
    /// The order was called off.
    Cancelled,
}

impl Claim {
    /// For the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Refunded => "refunded",
            Self::Mailed => "mailed",
            Self::HandedOver => "handed_over",
            Self::Eligible => "eligible",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The claims that are true in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub made: bool,
    pub refunded: bool,
    pub mailed: bool,
    pub handed_over: bool,
    pub eligible: bool,
    pub refused: bool,
    pub cancelled: bool,
}

impl Facts {
    fn supports(&self, claim: Claim) -> bool {
        match claim {
            Claim::Made => self.made,
            Claim::Refunded => self.refunded,
            Claim::Mailed => self.mailed,
            Claim::HandedOver => self.handed_over,
            Claim::Eligible => self.eligible,
            Claim::Refused => self.refused,
            Claim::Cancelled => self.cancelled,
        }
    }
}

/// The words of claims.
#[derive(Debug)]
pub struct ClaimRules {
    lexicon: Lexicon,
    suppositions: Vec<Pattern>,
    claims: Vec<(Claim, Vec<Pattern>)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    plain_words: Vec<String>,
    suppositions: Vec<String>,
    made: Vec<String>,
    refunded: Vec<String>,
    mailed: Vec<String>,
    handed_over: Vec<String>,
    eligible: Vec<String>,
    refused: Vec<String>,
    cancelled: Vec<String>,
}

impl ClaimRules {
    /// Reads `rules/claims.toml`.
    pub fn read(prompts: &Prompts) -> Result<Self, PromptError> {
        prompts.toml_with("rules/claims.toml", |text| Self::new(toml::from_str(text)?).map_err(toml::de::Error::custom))
    }

    fn new(file: RuleFile) -> Result<Self, InvalidPattern> {
        let lexicon = Lexicon::new(HashMap::new(), HashMap::new()).with_plain_words(&file.plain_words);
        let claims = [
            (Claim::Made, &file.made),
            (Claim::Refunded, &file.refunded),
            (Claim::Mailed, &file.mailed),
            (Claim::HandedOver, &file.handed_over),
            (Claim::Eligible, &file.eligible),
            (Claim::Refused, &file.refused),
            (Claim::Cancelled, &file.cancelled),
        ];
        let claims = claims.into_iter().map(|(claim, written)| Ok((claim, lexicon.patterns(written)?)));
        Ok(Self {
            claims: claims.collect::<Result<_, _>>()?,
            suppositions: lexicon.patterns(&file.suppositions)?,
            lexicon,
        })
    }

    /// The first claim of the text that nothing supports.
    pub fn unsupported(&self, text: &str, facts: &Facts) -> Option<Claim> {
        let wording = self.lexicon.read(text);
        let is_claimed = |patterns: &[Pattern]| self.claims(patterns, &wording);
        // "Not eligible" speaks of what is eligible, and says the opposite.
        let mut claimed: Vec<Claim> =
            self.claims.iter().filter(|(_, patterns)| is_claimed(patterns)).map(|(claim, _)| *claim).collect();
        if claimed.contains(&Claim::Refused) {
            claimed.retain(|claim| *claim != Claim::Eligible);
        }
        claimed.into_iter().find(|claim| !facts.supports(*claim))
    }

    /// Whether one of the patterns stands in a part of a sentence that is neither asked nor supposed.
    fn claims(&self, patterns: &[Pattern], wording: &Wording<'_>) -> bool {
        let places = patterns.iter().flat_map(|pattern| pattern.find_all(wording, &[]));
        places.into_iter().any(|place| {
            let clause = wording.clause(place.start);
            let is_in =
                |pattern: &Pattern| pattern.find_all(wording, &[]).iter().any(|range| clause.contains(&range.start));
            !is_asked(wording, clause.end) && !self.suppositions.iter().any(is_in)
        })
    }
}

/// Whether a question mark stands behind the words before that one.
fn is_asked(wording: &Wording<'_>, end: usize) -> bool {
    let Some(last) = wording.tokens()[..end].last() else { return false };
    let behind = wording.text()[last.span.end..].trim_start_matches(['*', '_', '"', '\'', ' ', ')']);
    behind.starts_with('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> ClaimRules {
        let file = include_str!("../../../prompts/rules/claims.toml");
        ClaimRules::new(toml::from_str(file).expect("the file")).expect("the patterns")
    }

    #[test]
    fn what_no_tool_did_may_not_be_claimed() {
        let rules = rules();
        use Claim::*;
        for (text, expected) in [
            ("Your return has been created.", Made),
            ("I've created a return for your boots.", Made),
            ("I have just started the return for you!", Made),
            ("Great news! The RMA is set up.", Made),
            ("Your return number is RMA-1.", Made),
            ("Em đã tạo yêu cầu trả hàng cho quý khách ạ.", Made),
            ("Yêu cầu trả hàng đã được tạo ạ.", Made),
            ("Your order has been refunded.", Refunded),
            ("I have refunded $129.99 to your card.", Refunded),
            ("The money was sent to your account.", Refunded),
            ("Dạ cửa hàng đã hoàn tiền cho quý khách ạ.", Refunded),
            ("I've sent you the label by e-mail.", Mailed),
            ("A confirmation email has been sent.", Mailed),
            ("Em đã gửi e-mail cho quý khách ạ.", Mailed),
            ("I've escalated this to a specialist.", HandedOver),
            ("A colleague will contact you soon.", HandedOver),
            ("Em đã chuyển cho nhân viên ạ.", HandedOver),
            ("Good news: your order is eligible for a return.", Eligible),
            ("Your return is approved!", Eligible),
            ("You can return it within 30 days.", Eligible),
            ("Đơn này đủ điều kiện trả hàng ạ.", Eligible),
            ("I'm sorry, the return window has passed.", Refused),
            ("This item cannot be returned.", Refused),
            ("Your order is not eligible.", Refused),
            ("Dạ đơn này không đủ điều kiện ạ.", Refused),
            ("Your order has been cancelled.", Cancelled),
            ("Em đã hủy đơn ạ.", Cancelled),
        ] {
            assert_eq!(rules.unsupported(text, &Facts::default()), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_asked_or_supposed_is_no_claim() {
        let rules = rules();
        for text in [
            "What's your order number?",
            "Could you tell me the e-mail address or phone number it was placed with?",
            "Shall I create the return for you?",
            "Would you like me to start the return?",
            "Has it been refunded?",
            "Once your return has been created, you get a label.",
            "Let me check whether it can be returned.",
            "When the money has been refunded, you will hear from us.",
            "Your order is on its way. It was shipped on Monday.",
            "Dạ quý khách cho em xin mã đơn hàng ạ.",
            "Quý khách có muốn em tạo yêu cầu trả hàng không ạ?",
            "Khi yêu cầu đã được tạo, quý khách sẽ nhận nhãn.",
            "Hello! I look after orders and returns.",
            "I found your order 77893 with Hiking Boots. Is this the one you want to return?",
        ] {
            assert_eq!(rules.unsupported(text, &Facts::default()), None, "{text}");
        }
    }

    #[test]
    fn what_a_tool_did_may_be_said() {
        let rules = rules();
        let all = Facts {
            made: true,
            refunded: true,
            mailed: true,
            handed_over: true,
            eligible: true,
            refused: true,
            cancelled: true,
        };
        let text = "I've created your return, it has been refunded, e-mailed and escalated to a specialist. It is not eligible.";
        assert_eq!(rules.unsupported(text, &all), None);
        assert_eq!(rules.unsupported(text, &Facts { refunded: false, ..all }), Some(Claim::Refunded));
        assert_eq!(rules.unsupported(text, &Facts { refused: false, ..all }), Some(Claim::Refused));
    }
}
