import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { accountLabel } from "../../ui/AccountChoice";
import { moment } from "../../ui/times";
import { TimeFields, useTime } from "./TimeFields";
import type { Draft } from "./Tray";
import type { Ghost, Plan } from "./useCalendar";
import { t } from "../../messages/calendar";

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
  const choice = useTime(zone, props.at);
  const { time } = choice;
  return (
    <Modal opened onClose={props.onClose} title={t("setATime")}>
      <Stack>
        <Text size="sm" lineClamp={3}>
          {props.draft.title}
        </Text>
        <Select
          label={t("account")}
          placeholder={t("choose")}
          searchable
          allowDeselect={false}
          data={able.map((each) => ({ value: each.id, label: accountLabel(each) }))}
          value={accountId}
          onChange={(id) => {
            setAccountId(id);
            choice.choose({ slot: null, wall: choice.wall }); // a slot is one account's
          }}
        />
        <TimeFields choice={choice} accountId={accountId} free={props.free} zone={zone} />
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            {t("cancel")}
          </Button>
          <Button
            disabled={accountId === null || time === null}
            loading={props.busy}
            onClick={() => accountId !== null && time !== null && props.onPlan({ postId: props.draft.id, accountId, ...time, zone, was: null })}
          >
            {time === null ? t("setATime") : t("goesOutTime", { time: moment(time.at, zone) })}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
