//! What the language model is given: pure functions over messages and passages.

use crate::domain::{Kind, Message, Sender};
use crate::persona::{Persona, cut_at_sentence};
use crate::providers::llm::{ChatMessage, Role};
use crate::retrieval::Passage;

/// The end of the conversation in at most `max_chars`, oldest first. Follow-ups and notices of errors are left out;
/// messages of one side in a row become one, as models expect.
pub(super) fn window(history: &[Message], max_chars: usize) -> Vec<ChatMessage> {
    let mut left = max_chars;
    let mut picked: Vec<&Message> = Vec::new();
    for message in history.iter().rev() {
        if matches!(message.metadata.kind(), Some(Kind::FollowUp | Kind::ErrorNotice)) {
            continue;
        }
        let length = message.text.chars().count();
        if length > left {
            break;
        }
        left -= length;
        picked.push(message);
    }
    let mut window: Vec<ChatMessage> = Vec::new();
    for message in picked.into_iter().rev() {
        let role = if message.sender == Sender::User { Role::User } else { Role::Assistant };
        match window.last_mut().filter(|last| last.role == role) {
            Some(last) => {
                last.content.push('\n');
                last.content.push_str(&message.text);
            }
            None => window.push(ChatMessage { role, content: message.text.clone() }),
        }
    }
    window
}

/// The system message, in seed 004's order: persona, retrieved context, detected intent, instruction.
pub(super) fn system(
    persona: &Persona,
    persona_max_chars: usize,
    passages: &[Passage],
    context_max_chars: usize,
    intent: &str,
    instruction: &str,
) -> String {
    let mut system =
        format!("System Persona: {}\n\nRetrieved context:\n", cut_at_sentence(&persona.text, persona_max_chars));
    let mut left = context_max_chars;
    for (index, passage) in passages.iter().enumerate() {
        let section = if passage.section.is_empty() { String::new() } else { format!(" — {}", passage.section) };
        let entry = format!("[{}] {}{section}\n{}\n", index + 1, passage.title, passage.text);
        let length = entry.chars().count();
        if length > left {
            break;
        }
        left -= length;
        system.push_str(&entry);
    }
    if passages.is_empty() {
        system.push_str("(nothing in the shop's documents fits the question)\n");
    }
    system.push_str(&format!("\nDetected intent: {intent}\nInstruction: {instruction}"));
    system
}

#[cfg(test)]
mod tests {
    use chrono::Utc;

    use super::*;
    use crate::domain::{ConversationId, MessageId, Metadata};

    fn message(sender: Sender, kind: Option<Kind>, text: &str) -> Message {
        Message {
            id: MessageId::now(),
            conversation_id: ConversationId::now(),
            turn: 1,
            position: 0,
            sender,
            text: text.to_owned(),
            created_at: Utc::now(),
            metadata: kind.map(Metadata::of).unwrap_or_default(),
            receipt: None,
        }
    }

    #[test]
    fn the_window_ends_with_the_newest_and_leaves_follow_ups_out() {
        let history = [
            message(Sender::Assistant, Some(Kind::Greeting), "Chào"),
            message(Sender::User, None, "mua laptop"),
            message(Sender::Assistant, Some(Kind::CuteGreeting), "Dạ!"),
            message(Sender::Assistant, Some(Kind::Reply), "Mẫu này ạ"),
            message(Sender::Assistant, Some(Kind::FollowUp), "Gì nữa không ạ?"),
        ];
        let whole =
            [ChatMessage::assistant("Chào"), ChatMessage::user("mua laptop"), ChatMessage::assistant("Dạ!\nMẫu này ạ")];
        assert_eq!(window(&history, 1000), whole);
        assert_eq!(window(&history, 12), [ChatMessage::assistant("Dạ!\nMẫu này ạ")]);
        assert_eq!(window(&history, 3), []);
    }
}
