"""What OpenAPI cannot say of this API, for schemathesis."""
import itertools
import re

import schemathesis

_numbers = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Every key is used once: one that comes again with another body is refused, as the contract wants. Which personas and
    languages there are is the shop's own matter, so a word for one is made one that this shop has."""
    headers = case.headers or {}
    for name in list(headers):
        value = headers[name]
        good = isinstance(value, str) and 0 < len(value) <= 200 and all("!" <= c <= "~" for c in value)
        if name.lower() == "idempotency-key" and good:
            headers[name] = f"{value}-{next(_numbers)}"
    if isinstance(case.body, dict):
        for name, known in (("persona", "system_persona_vi"), ("language", "vi")):
            if isinstance(case.body.get(name), str):
                case.body[name] = known
    meant_well = case.meta is None or case.meta.generation.mode.is_positive
    if meant_well and isinstance(case.body, dict) and isinstance(case.body.get("user_id"), str):
        # A pattern of all refused characters would be longer than the rest of the description.
        case.body["user_id"] = "".join(filter(str.isprintable, case.body["user_id"])).strip() or "u"
    if meant_well and isinstance(case.body, dict) and isinstance(case.body.get("text"), str):
        # The pattern of a text cannot name invisible characters above U+FFFF: dialects of patterns write them differently.
        invisible = "[\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
        case.body["text"] = re.sub(invisible, "u", case.body["text"])
    if meant_well and case.operation.path == "/console/api/warranty-files":
        upload_a_list(case)
    if meant_well and case.operation.path == "/console/api/personas/{id}" and isinstance(case.body, dict):
        case.body["text"] = f"Who.\nGreeting: Hello {next(_numbers)}\n"


def upload_a_list(case):
    """Uploads a valid list. The schema cannot describe its format, or the hash that writing it requires."""
    case.body = f"serial,product_name,warranty_end_date\nSN-{next(_numbers)},Mouse,2027-01-31\n"
    if str(case.query.get("dry_run", "")).lower() == "false":
        case.query["dry_run"] = "true"
