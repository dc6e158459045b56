//! The part of a conversation that a language model sees.

use crate::config::LlmConfig;
use crate::domain::{Kind, Message, Sender};
use crate::providers::llm::{ChatMessage, Role};

/// Characters of Vietnamese in a token of the usual vocabularies, estimated low.
const CHARS_PER_TOKEN: usize = 2;

/// Returns the end of the conversation in at most `max_chars`, oldest first. Follow-ups and error notices are omitted.
/// Consecutive messages of one side are joined, as models expect.
pub fn window(history: &[Message], max_chars: usize) -> Vec<ChatMessage> {
    let picked = &history[window_start(history, max_chars)..];
    let mut window: Vec<ChatMessage> = Vec::new();
    for message in picked.iter().filter(|message| is_shown(message)) {
        let role = if message.sender == Sender::User { Role::User } else { Role::Assistant };
        match window.last_mut().filter(|last| last.role == role) {
            Some(last) => {
                last.content.push('\n');
                last.content.push_str(&message.text);
            }
            None => window.push(ChatMessage::new(role, message.text.clone())),
        }
    }
    window
}

/// Returns the index of the window's first message.
pub fn window_start(history: &[Message], max_chars: usize) -> usize {
    let mut left = max_chars;
    let mut start = history.len();
    for (at, message) in history.iter().enumerate().rev().filter(|(_, message)| is_shown(message)) {
        let length = message.text.chars().count();
        if length > left {
            break;
        }
        left -= length;
        start = at;
    }
    start
}

fn is_shown(message: &Message) -> bool {
    !matches!(message.metadata.kind(), Some(Kind::FollowUp | Kind::ErrorNotice))
}

/// Returns how many characters of the conversation fit into the model's context in addition to the other texts and the answer.
/// Ollama silently removes what does not fit, from the top, where the persona is.
pub fn room_for_history(config: &LlmConfig, others: &[&str]) -> usize {
    let tokens = usize::try_from(config.num_ctx.saturating_sub(config.max_tokens)).unwrap_or(usize::MAX);
    let taken: usize = others.iter().map(|text| text.chars().count()).sum();
    tokens.saturating_mul(CHARS_PER_TOKEN).saturating_sub(taken)
}

#[cfg(test)]
pub(crate) mod tests {
    use chrono::Utc;

    use super::*;
    use crate::domain::{ConversationId, MessageId, Metadata};

    pub fn message(sender: Sender, kind: Option<Kind>, text: &str) -> Message {
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
    fn window_keeps_newest_messages_without_follow_ups() {
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

    #[test]
    fn long_prompt_leaves_less_room_for_history() {
        let config = LlmConfig { num_ctx: 1000, max_tokens: 200, ..LlmConfig::default() };
        assert_eq!(room_for_history(&config, &["một", "hai"]), 1600 - 6);
        assert_eq!(room_for_history(&config, &[&"a".repeat(5000)]), 0);
    }
}
