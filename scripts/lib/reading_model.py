"""A language model that reads without a mistake: it says those of the expected facts that its prompt has."""
import re

from scripted_ollama import ScriptedOllama

INTENTS = {"warranty_result": "warranty", "warranty_prompt": "warranty", "social": "unknown", "clarify": "unknown"}
UNKNOWN = {"vi": "Dạ, em không có thông tin này ạ.", "en": "I do not have that information.", "pl": "Niestety nie mam tej informacji."}


class ReadingModel(ScriptedOllama):
    """`check` is what the next answer must have; `has(text, fact)` finds a fact as the judge does."""

    def __init__(self, language, has):
        self.language, self.has, self.check = language, has, {}
        super().__init__(seed=0, pace=0, even=True)

    def intent(self):
        kinds = self.check.get("kind", [])
        intent = next((INTENTS[kind] for kind in kinds if kind in INTENTS), "shopping")
        is_unclear = intent == "unknown"
        return {
            "intent": intent, "confidence": 0.95, "need_retrieval": intent == "shopping", "clarify_needed": is_unclear,
            "clarify_questions": [], "rationale": "social: as expected" if "social" in kinds else "as expected",
        }

    def next_reply(self, messages):
        """The quoted lines and earlier answers that have the facts, without those that have what must not be said."""
        texts = [text for _, text in re.findall(r"<<<(\w+)\n(.*?)\1>>>", messages[0]["content"], re.DOTALL)]
        texts += [message["content"] for message in messages if message["role"] == "assistant"]
        lines = [re.sub(r"^\[\d+\] ", "", line) for text in texts for line in text.splitlines()]
        lines = [line for line in lines if not any(self.has(line, fact) for fact in self.check.get("never", []))]
        found = (next((line for line in lines if self.has(line, fact)), None) for fact in self.check.get("says", []))
        text = "\n\n".join(dict.fromkeys(filter(None, found))) or UNKNOWN.get(self.language, UNKNOWN["en"])
        return None, [word + " " for word in text.split(" ")]
