//! The retail desk, driven over HTTP.

use crate::support::app::TestApp;

#[tokio::test]
async fn a_warranty_that_is_found_is_told_in_the_exact_words() {
    let app = TestApp::start().await;
    let events = app.ask_once("kiểm tra bảo hành ABC123").await;
    assert_eq!(events.status(), "completed");
    assert_eq!(events.kinds(), ["cute_greeting", "warranty_result", "follow_up"]);
    let text = events.text("warranty_result");
    assert!(
        text.starts_with(
            "Thông tin bảo hành: Sản phẩm 'Laptop Dell', Serial 'ABC123', hết bảo hành vào ngày 31/12/2024"
        ),
        "{text}"
    );
}
