//! Payment providers.

use async_trait::async_trait;

use crate::domain::TenantId;
use crate::domain::commerce::payment::{Payment, PaymentReport};

/// Asks customers to pay. It reports, and never decides: [`PaymentRequest::decide`] does.
///
/// [`PaymentRequest::decide`]: crate::domain::commerce::payment::PaymentRequest::decide
#[async_trait]
pub trait PaymentGateway: Send + Sync {
    /// Asks for a payment that is stored. An answer that is lost is [`PaymentReport::AnswerLost`], and the request is not repeated.
    async fn request(&self, tenant: &TenantId, payment: &Payment) -> PaymentReport;

    /// Asks what became of a payment.
    async fn query(&self, tenant: &TenantId, payment: &Payment) -> PaymentReport;
}
