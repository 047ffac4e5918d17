"""How a Facebook page refuses: Meta's table, with what a missing post means where we made it ourselves."""

from cadenza.providers.errors import Row, forbidden, prepare_again, rejected
from cadenza.providers.meta.errors import table

# The piece is not the one that Facebook wants next; film.py goes on where the refusal says, if it can.
WRONG_PIECE = 1363037
HALFWAY = (1363019, 1363030, 1363033, WRONG_PIECE)  # lost or cut on the way: to be sent once more
FILMS = (
    *(
        Row(None, None, subcode, prepare_again, "Facebook did not get the video whole")
        for subcode in HALFWAY
    ),
    Row(None, None, 1363042, forbidden, "The account may not post videos on this page"),
    *(
        Row(None, None, subcode, rejected, "Facebook does not take this video")
        for subcode in range(1363019, 1363046)
        if subcode not in {*HALFWAY, 1363042}
    ),
    Row(None, 6000, None, prepare_again, "Facebook had trouble with the video"),
)

# While preparing: an answer was lost, and an unseen post that we know nothing of holds the photos.
TABLE = table(
    "Facebook",
    Row(None, None, 1366051, prepare_again, "The photos are in a post that was not finished"),
    *FILMS,
)

# For calls that name what we prepared ourselves: missing means to prepare again.
PUBLISH = table(
    "Facebook", Row(None, 100, 33, prepare_again, "The prepared post is gone on Facebook"), *FILMS
)
