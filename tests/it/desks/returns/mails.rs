//! What leaves the house: mails, and the label behind its link.

use super::shop::{Chat, mails, open};
use crate::support::app::TestApp;

#[tokio::test]
async fn the_link_in_the_mail_opens_the_label_and_no_other_link_does() {
    let app = open(TestApp::builder()).await;
    let mut chat = Chat::open(&app).await;
    chat.say_all(&["return order 77893", "john.doe@example.com", "yes"]).await;
    // Quoted-printable breaks lines behind an equals sign.
    let mail = mails(&app)[0].replace("=\r\n", "");
    let path = mail.split("/labels/").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let response = app.get(&format!("/labels/{path}")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/pdf");
    let pdf = response.bytes().await.unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let again = app.get(&format!("/labels/{path}")).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(pdf, again, "the same label however often it is opened");
    for wrong in ["x", "x.y", &path[1..], &path[..path.len() - 2]] {
        assert_eq!(app.get(&format!("/labels/{wrong}")).send().await.unwrap().status(), 404, "{wrong}");
    }
}
