-- Why a delivery waits or ended, as a code with parameters beside its sentence. What is stored keeps its sentence and has no
-- parameters: they cannot be read out of it.
ALTER TABLE delivery ADD COLUMN reason_code text;
ALTER TABLE delivery ADD COLUMN reason_params text;
UPDATE delivery SET reason_code = CASE
    WHEN reason = 'not approved in time' THEN 'not_approved_in_time'
    WHEN reason = 'its last allowed time has passed' THEN 'last_time_passed'
    WHEN reason LIKE 'it was due after the backup that this database was restored from%' THEN 'maybe_sent'
    WHEN reason = 'the recipient cannot be reached any more' THEN 'recipient_lost'
    WHEN reason LIKE 'the recipient cannot be reached: %' THEN 'recipient_inactive'
    WHEN reason LIKE 'the recipient is suppressed: %' THEN 'suppressed'
    WHEN reason LIKE 'the account was disconnected: %' THEN 'account_removed'
    WHEN reason = 'its post was deleted' THEN 'post_deleted'
    WHEN reason = 'cleared from the queue' THEN 'cleared'
    WHEN reason = 'the recipient was erased' THEN 'erased'
    WHEN reason = 'the rule was changed' THEN 'rule_changed'
    WHEN reason = 'its campaign was canceled' THEN 'campaign_canceled'
    WHEN reason = 'the recipient answered' THEN 'reply'
    WHEN reason = 'an earlier message bounced' THEN 'bounce'
    WHEN reason = 'the connection was accepted' THEN 'accepted'
    WHEN reason = 'the recipient unsubscribed' THEN 'unsubscribe'
    WHEN reason = 'the recipient complained' THEN 'complaint'
    WHEN reason = 'the sequence was stopped for this contact' THEN 'stopped_by_hand'
    WHEN reason = 'an earlier message was not sent' THEN 'not_sent'
    WHEN reason = 'the sequence was ended' THEN 'sequence_ended'
    WHEN reason LIKE 'the sequence is % for this contact' THEN 'sequence_held'
    WHEN reason LIKE 'its worker process died %' THEN 'worker_died'
    WHEN reason LIKE 'its worker fell silent %' THEN 'worker_silent'
    WHEN reason LIKE 'it was not there after %' THEN 'not_there'
    WHEN reason = 'it was not there; it is sent again' THEN 'sent_again'
    WHEN reason = 'the rest of the thread follows' THEN 'rest_follows'
    WHEN reason LIKE 'the approval was taken back%' THEN 'approval_taken_back'
    WHEN reason = 'its content was changed after the approval' THEN 'content_changed'
    WHEN reason = 'sent late: it came due while nothing was sent' THEN 'sent_late'
    WHEN reason = 'sent late, as a person asked' THEN 'sent_late_by_person'
    WHEN reason = 'taken back: it came due while nothing was sent' THEN 'taken_back_late'
    WHEN reason = 'taken back after it was missed' THEN 'taken_back_missed'
    WHEN reason = 'moved: it no longer kept the limits' THEN 'over_limits'
    WHEN reason = 're-planned after the pause' THEN 'replanned'
    WHEN reason LIKE 'moved%' THEN 'moved'
    WHEN reason LIKE 'assumed sent: %' THEN 'assumed_sent'
    WHEN state = 'sent' THEN 'sent_note'
    WHEN state = 'missed' THEN 'too_late'
    WHEN state = 'canceled' THEN 'canceled'
    WHEN state = 'unconfirmed' THEN 'unconfirmed'
    WHEN state = 'failed' THEN coalesce((
        SELECT CASE attempt.outcome
            WHEN 'Rejected' THEN 'rejected' WHEN 'RecipientGone' THEN 'recipient_gone'
            WHEN 'Forbidden' THEN 'forbidden' WHEN 'Transient' THEN 'retries_exhausted' ELSE 'other'
        END FROM attempt
        WHERE attempt.workspace_id = delivery.workspace_id AND attempt.delivery_id = delivery.id
        ORDER BY attempt.lease DESC, attempt.part DESC LIMIT 1
    ), 'does_not_fit')
    ELSE 'other'
END WHERE reason IS NOT NULL;
CREATE INDEX delivery_of_reason ON delivery (workspace_id, reason_code, due_at, id) WHERE reason_code IS NOT NULL;

-- A jump of the clock that was found while a restore is held: confirming the one says nothing of the other.
ALTER TABLE installation ADD COLUMN jump_reason text;
UPDATE installation SET jump_reason = hold_reason, hold_reason = 'the database was restored from a backup'
WHERE hold_kind = 'restore' AND hold_reason LIKE '%; and meanwhile %';
