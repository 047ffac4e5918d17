import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { accountLabel } from "../../ui/AccountChoice";
import { localInstant } from "../../ui/localInstant";
import { clock, localDay, moment, placeOf } from "../../ui/times";
import type { Draft } from "./Tray";
import type { Ghost, Plan } from "./useCalendar";

/** A draft gets its first time: which account, and a slot of its queue or a time of one's own. */
export function PlaceDialog(props: {
  draft: Draft;
  /** Where it was let go, if it was dragged. */
  at: Date | null;
  accountId: string | null;
  accounts: readonly Account[];
  free: readonly Ghost[];
  zone: string;
  busy: boolean;
  onPlan: (plan: Plan) => void;
  onClose: () => void;
}) {
  const { zone } = props;
  const able = props.accounts.filter(({ state }) => state === "connected" || state === "expiring");
  const [accountId, setAccountId] = useState<string | null>(props.accountId ?? (able.length === 1 ? (able[0]?.id ?? null) : null));
  const [slot, setSlot] = useState<string | null>(null);
  const [wall, setWall] = useState(props.at === null ? "" : `${localDay(props.at, zone)}T${clock(props.at, zone)}`);
  const slots = props.free.filter((ghost) => ghost.account_id === accountId && ghost.kind === "empty");
  const by = wall === "" ? null : localInstant(wall, zone).toISOString();
  const at = by ?? slot;
  return (
    <Modal opened onClose={props.onClose} title="Give it a time">
      <Stack>
        <Text size="sm" lineClamp={3}>
          {props.draft.title}
        </Text>
        <Select label="Account" placeholder="Choose" searchable allowDeselect={false} data={able.map((each) => ({ value: each.id, label: accountLabel(each) }))} value={accountId} onChange={setAccountId} />
        <Select
          label="A free slot"
          placeholder={accountId === null ? "Choose an account first" : slots.length === 0 ? "No free slot in these days" : "Choose"}
          searchable
          clearable
          disabled={slots.length === 0}
          value={slot}
          onChange={(next) => {
            setSlot(next);
            if (next !== null) setWall("");
          }}
          data={slots.map((ghost) => ({ value: ghost.at, label: moment(ghost.at, zone) }))}
        />
        <TextInput
          type="datetime-local"
          label={`Or a time of your own (${placeOf(zone)})`}
          value={wall}
          onChange={(event) => {
            setWall(event.currentTarget.value);
            setSlot(null);
          }}
        />
        {by !== null && (
          <Alert color="blue" p="xs" role="status">
            Between slots it is timed by hand: the queue does not move it.
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            Leave it
          </Button>
          <Button
            disabled={accountId === null || at === null}
            loading={props.busy}
            onClick={() => accountId !== null && at !== null && props.onPlan({ postId: props.draft.id, accountId, at, zone, slot: by === null, was: null })}
          >
            {at === null ? "Give it a time" : `Goes out ${moment(at, zone)}`}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
