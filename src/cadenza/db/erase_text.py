"""Takes words out of what is kept about the past: outbox, audit log and answers of requests.

The rows stay, as what happened did happen; the words are replaced. Answers that held them are forgotten, so that a
repetition of such a request is carried out again. Limit: words are found as they are written, whatever the case.
"""

from collections.abc import Mapping, Sequence

from cadenza.sql.tx import Tx


def erase_text(
    tx: Tx, *, workspace_id: str, words: Mapping[str, str], subjects: Sequence[str]
) -> None:
    """Replace words everywhere, and empty what was told about these subjects."""
    about = {"workspace_id": workspace_id}
    for word, instead in words.items():
        said = {**about, "like": f"%{_escaped(word.lower())}%", "word": word, "instead": instead}
        tx.run(
            r"""
            DELETE FROM idempotency_key
            WHERE workspace_id = :workspace_id AND body IS NOT NULL AND lower(body) LIKE :like ESCAPE '\'
            """,
            workspace_id=workspace_id,
            like=said["like"],
        )
        tx.run(
            r"""
            UPDATE outbox SET body = '{}', subject_id = replace(subject_id, :word, :instead)
            WHERE workspace_id = :workspace_id
                AND (lower(body) LIKE :like ESCAPE '\' OR subject_id = :word)
            """,
            **said,
        )
        tx.run(
            r"""
            UPDATE audit SET subject_id = replace(subject_id, :word, :instead),
                before = replace(before, :word, :instead), after = replace(after, :word, :instead)
            WHERE workspace_id = :workspace_id AND (subject_id = :word OR lower(before) LIKE :like ESCAPE '\'
                OR lower(after) LIKE :like ESCAPE '\')
            """,
            **said,
        )
    tx.run(
        """
        UPDATE outbox SET body = '{}'
        WHERE workspace_id = :workspace_id
            AND subject_id IN (SELECT id FROM TABLE(:subjects) AS asked (id text))
        """,
        subjects=[(each,) for each in sorted(set(subjects))],
        **about,
    )


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
