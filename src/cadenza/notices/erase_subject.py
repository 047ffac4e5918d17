"""Takes an erased person's address out of notices that were about it."""

from cadenza.sql.tx import Tx


def erase_subject(tx: Tx, *, workspace_id: str, subject: str, instead: str) -> None:
    """Replace what notices are about."""
    tx.run(
        """
        UPDATE notice SET subject_id = :instead
        WHERE workspace_id = :workspace_id AND subject_id = :subject
        """,
        workspace_id=workspace_id,
        subject=subject,
        instead=instead,
    )
