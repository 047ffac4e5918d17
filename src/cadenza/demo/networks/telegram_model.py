"""What Telegram keeps of bots and chats, and the sentences in which it refuses."""

from dataclasses import dataclass

# Why a bot cannot write to a chat: status and sentence. `{kind}` is the chat's type.
STATES = {
    "blocked": (403, "Forbidden: bot was blocked by the user"),
    "deactivated": (403, "Forbidden: user is deactivated"),
    "never_started": (403, "Forbidden: bot can't initiate conversation with a user"),
    "bot": (403, "Forbidden: the bot can't send messages to the bot"),
    "kicked": (403, "Forbidden: bot was kicked from the {kind} chat"),
    "left": (403, "Forbidden: bot is not a member of the {kind} chat"),
    "deleted": (403, "Forbidden: the group chat was deleted"),
    "read_only": (400, "Bad Request: have no write access to the chat"),
    "no_rights": (400, "Bad Request: not enough rights to send {what} to the chat"),
    "not_admin": (400, "Bad Request: need administrator rights in the channel chat"),
    "upgraded": (400, "Bad Request: group chat was upgraded to a supergroup chat"),
}
# An album is refused by the servers' own words, and as a bad request.
IN_ALBUM = {"blocked": "USER_IS_BLOCKED", "deactivated": "INPUT_USER_DEACTIVATED"}
# What is sent, as Telegram says it.
WHAT = {
    "sendmessage": "text messages",
    "sendphoto": "photos",
    "sendvideo": "videos",
    "sendanimation": "GIFs",
    "senddocument": "documents",
    "sendmediagroup": "media",
}
ALL = frozenset(
    {
        *("chat_id", "message_thread_id", "disable_notification", "protect_content"),
        *("reply_parameters", "reply_markup", "allow_paid_broadcast"),
    }
)
CAPTIONED = ALL | {"caption", "parse_mode", "caption_entities"}
FIELDS = {
    "sendmessage": ALL | {"text", "parse_mode", "entities", "link_preview_options"},
    "sendphoto": CAPTIONED | {"photo"},
    "sendvideo": CAPTIONED | {"video"},
    "sendanimation": CAPTIONED | {"animation"},
    "senddocument": CAPTIONED | {"document"},
    "sendmediagroup": ALL | {"media"},
}
FILE_FIELD = {
    "sendphoto": "photo",
    "sendvideo": "video",
    "sendanimation": "animation",
    "senddocument": "document",
}
TEXT, CAPTION, RAW_BYTES = 4096, 1024, 32_768
MB = 1024 * 1024
MOST = {"photo": 10 * MB, "video": 50 * MB, "animation": 50 * MB, "document": 50 * MB}
PHOTOS = ("image/jpeg", "image/png", "image/gif", "image/webp")


@dataclass(slots=True)
class Bot:
    id: int
    username: str
    revoked: bool = False


@dataclass(slots=True)
class Chat:
    id: int
    type: str  # private, group, supergroup, channel
    title: str = ""
    username: str = ""
    state: str = ""  # one of STATES
    moved_to: int | None = None
    last_message: int = 0

    def shown(self) -> dict[str, object]:
        about: dict[str, object] = {"id": self.id, "type": self.type}
        if self.type == "private":
            about["first_name"] = self.title
        else:
            about["title"] = self.title
        if self.username:
            about["username"] = self.username
        return about


class TelegramRefused(Exception):
    """Ends a call with a sentence."""

    def __init__(self, status: int, words: str, **parameters: int) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.parameters = parameters


def bad(words: str) -> TelegramRefused:
    """Make the refusal of a bad request."""
    return TelegramRefused(400, f"Bad Request: {words}")


def in_album(number: int, words: str) -> TelegramRefused:
    """Make the refusal of one message of an album: the sentence begins small, the one inside does not."""
    return bad(f'failed to send message #{number} with the error message "{words}"')
