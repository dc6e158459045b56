//! Payment providers.
//!
//! - [`daraja`]: Safaricom's API of M-PESA
//! - [`pesapal`]: cards, on a page of PesaPal
//! - `api`: what both have in common: tokens, a circuit breaker for each shop, and what a missing answer means

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::domain::TenantId;
use crate::domain::commerce::payment::{Payment, PaymentReport};
use crate::domain::commerce::tenant::CredentialName;

mod api;
pub mod daraja;
pub mod pesapal;

pub use api::Unanswered;

/// The credentials of a shop, opened.
pub type Credentials = BTreeMap<CredentialName, String>;

/// Asks customers to pay. It reports, and never decides: [`PaymentRequest::decide`] does.
///
/// [`PaymentRequest::decide`]: crate::domain::commerce::payment::PaymentRequest::decide
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// Asks for a payment that is stored. An answer that is lost is [`PaymentReport::AnswerLost`], and the request is not repeated.
    async fn request(&self, tenant: &TenantId, payment: &Payment) -> PaymentAnswer;

    /// Asks what became of a payment.
    async fn query(&self, tenant: &TenantId, payment: &Payment) -> PaymentReport;
}

/// A provider's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentAnswer {
    pub report: PaymentReport,
    /// The provider's number of the request.
    pub reference: Option<String>,
    /// The page on which the customer pays.
    pub page: Option<String>,
    /// Whether the provider could not be asked.
    pub is_unavailable: bool,
}

impl PaymentAnswer {
    /// The provider could not be asked, so that the payment has failed.
    pub fn unavailable() -> Self {
        Self { is_unavailable: true, ..PaymentReport::Failed.into() }
    }
}

impl From<PaymentReport> for PaymentAnswer {
    fn from(report: PaymentReport) -> Self {
        Self { report, reference: None, page: None, is_unavailable: false }
    }
}
