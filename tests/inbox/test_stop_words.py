"""Stop words: one alone asks us to stop, however it is written; in a sentence it does not."""

import pytest

from cadenza.inbox.stop_words import STOP_WORDS, is_stop_word


@pytest.mark.parametrize(
    "text",
    [
        *(
            "STOP",
            " stop. ",
            "Stop!!!",
            "/stop",
            "Unsubscribe",
            "„Abmelden“",
            "\uff33\uff34\uff2f\uff30",
            "opt-out",
        ),
        *("ARRÊT", "Arre\u0302t", "СТОП", "配信停止。", "stop 🙏", "\u0130PTAL", "stop\u200b"),
    ],
)
def test_a_word_alone_asks_to_stop(text: str) -> None:
    assert is_stop_word(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "!!!",
            "stop by tomorrow",
            "Please don't stop",
            "stopwatch",
            "the end",
            "nonstop",
        ),
        *("endlich", "stop" * 20, "st op"),
    ],
)
def test_other_messages_do_not(text: str) -> None:
    assert not is_stop_word(text)


def test_every_word_is_found_in_capitals() -> None:
    assert [word for word in STOP_WORDS if not is_stop_word(word.upper())] == []
