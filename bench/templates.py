"""How many mails a second does one process render? Subject, text and HTML with five variables,
beside `str.format` of the same three texts, which escapes nothing and checks nothing.
"""

import html
import time as clock

import msgspec

from cadenza.core.channels import Channel
from cadenza.templates.compile import compile_content
from cadenza.templates.model import BodyFormat, TemplateContent
from cadenza.templates.render import RenderedMessage, renderer_of

BODY = """Hello {{first_name}},

thank you for your order **{{order}}** at {{company}}. It leaves for {{city | upper}} today.

- [Where is it?](https://shop.example/orders/{{order}})
- Questions? Write to {{agent | default: "us"}}.

See you soon, {{first_name}}!
"""
CONTENT = TemplateContent(
    subject="Your order {{order}}, {{first_name}}", format=BodyFormat.MARKDOWN, body=BODY
)
PEOPLE = [
    {
        "first_name": name,
        "order": f"A-{number}",
        "company": "Baker & Sons",
        "city": city,
        "agent": "Cy",
    }
    for number, (name, city) in enumerate(
        [("Ada", "Berlin"), ("Ben", "New York"), ("Cy", "Tokyo"), ("Zoë", "Kraków")] * 2_500
    )
]


def ours(compiled: str) -> float:
    """Return renders a second."""
    began = clock.perf_counter()
    for person in PEOPLE:
        made = renderer_of(compiled, Channel.EMAIL).render(person)
        assert isinstance(made, RenderedMessage)
    return len(PEOPLE) / (clock.perf_counter() - began)


def formatted(message: RenderedMessage, person: dict[str, str]) -> float:
    """Return how often a second `str.format` fills in the same three texts."""
    texts: list[str] = []
    for text in (message.subject, message.text, message.html or ""):
        said = text.replace("{", "{{").replace("}", "}}")
        for name, value in person.items():
            shown = value.upper() if name == "city" else value
            said = said.replace(html.escape(shown), f"{{{name}}}").replace(shown, f"{{{name}}}")
        texts.append(said)
    began = clock.perf_counter()
    for each in PEOPLE:
        for text in texts:
            text.format(**each)
    return len(PEOPLE) / (clock.perf_counter() - began)


def main() -> None:
    compiled = msgspec.json.encode(compile_content(CONTENT).compiled).decode()
    message = renderer_of(compiled, Channel.EMAIL).render(PEOPLE[0])
    assert isinstance(message, RenderedMessage)
    rate = max(ours(compiled) for _ in range(5))
    bare = max(formatted(message, PEOPLE[0]) for _ in range(5))
    print(f"rendered:   {rate:10,.0f} mails/s (subject, text and HTML; 5 variables)")
    print(f"str.format: {bare:10,.0f} mails/s; ours is {rate / bare:.2f} of it")


if __name__ == "__main__":
    main()
