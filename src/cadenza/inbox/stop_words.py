"""Words by which people ask a chat to stop writing: STOP and UNSUBSCRIBE, and what other languages say.

Only a message that is nothing but such a word counts: "stop by tomorrow" is a reply. Limit: what people ask for in a
whole sentence is left to a person who reads it.
"""

import unicodedata

STOP_WORDS = frozenset(
    {
        *(
            "stop",
            "stop all",
            "stopall",
            "unsubscribe",
            "cancel",
            "end",
            "quit",
            "opt out",
            "optout",
            "remove me",
        ),
        *("abmelden", "abbestellen", "stopp", "aufhören"),  # German
        *(
            "arrêt",
            "arret",
            "désabonner",
            "desabonner",
            "désinscription",
            "me désabonner",
        ),  # French
        *("alto", "baja", "parar", "cancelar", "darme de baja", "darse de baja"),  # Spanish
        *("pare", "sair", "cancelar inscrição", "descadastrar"),  # Portuguese
        *("annulla", "basta", "cancellami", "disiscrivimi", "disiscriviti"),  # Italian
        *("afmelden", "uitschrijven"),  # Dutch
        *("rezygnuję", "wypisz", "wypisz mnie"),  # Polish
        *("avsluta", "avregistrera", "avslutt", "afmeld", "peruuta", "lopeta"),  # Nordic
        *("стоп", "отписаться", "отписка", "відписатися"),  # Russian, Ukrainian
        *("dur", "iptal", "abonelikten çik"),  # Turkish
        *("إيقاف", "توقف", "الغاء الاشتراك", "إلغاء الاشتراك"),  # Arabic
        *(
            "停止",
            "退订",
            "退訂",
            "取消订阅",
            "配信停止",
            "登録解除",
            "수신거부",
            "구독취소",
        ),  # Chinese, Japanese, Korean
        *("रोकें", "बंद करो"),  # Hindi
    }
)
_LONGEST = 40


def is_stop_word(text: str) -> bool:
    """Say whether a message asks us to stop: one of the words, however written, and nothing else."""
    if len(text) > _LONGEST:
        return False
    kept = "".join(" " if _separates(each) else each for each in _fold(text))
    return " ".join(kept.split()) in _FOLDED


def _separates(character: str) -> bool:
    """Punctuation, spaces, pictures and invisible characters; letters and their marks stay."""
    return unicodedata.category(character)[0] not in "LMN"


def _fold(text: str) -> str:
    """Return the one spelling; Turkish has four letters for the i."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.replace("i\u0307", "i").replace("\u0131", "i")


_FOLDED = frozenset(_fold(word) for word in STOP_WORDS)
