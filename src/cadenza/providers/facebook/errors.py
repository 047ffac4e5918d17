"""How a Facebook page refuses: Meta's table, with what a missing post means where we made it ourselves."""

from cadenza.providers.errors import Row, prepare_anew, rejected
from cadenza.providers.meta.errors import table

TABLE = table(
    "Facebook",
    *(
        Row(None, None, subcode, rejected, "Facebook does not take this video")
        for subcode in range(1363019, 1363046)
    ),
)

# For the one irreversible call: what it names was prepared by us, so missing means to prepare anew.
PUBLISH = table(
    "Facebook",
    Row(None, 100, 33, prepare_anew, "The prepared post is gone on Facebook"),
    *TABLE.rows[: 1363046 - 1363019],
)
