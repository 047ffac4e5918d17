import { Alert, Anchor, Button, Group, Paper, Text } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPause } from "@tabler/icons-react";
import { Link } from "react-router";

import type { Account } from "../../api/accounts";
import { fromNow, moment } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { accountWord } from "../../ui/words";
import { ZoneBadge } from "../../ui/ZoneBadge";
import type { QueueView } from "./order";
import { useRunway } from "./useQueue";
import { t } from "../../messages/queue";

/** The state of a queue at a glance: whose clock, when the next post goes, how long it lasts. */
export function Head({ account, view }: { account: Account; view: QueueView }) {
  const now = useNow();
  const runway = useRunway(account.id).data;
  return (
    <Paper className="queue-head" withBorder p="sm">
      <Group gap="md">
        <ZoneBadge zone={view.zone} />
        <Fact name={t("next")}>
          {nextWords(view, now)}
        </Fact>
        {runway !== undefined && (
          <Fact name={t("planned")}>
            {t("posts", { posts: runway.posts })}
            {runway.last_at !== null && t("untilTime", { time: moment(runway.last_at, view.zone) })}
            {runway.empty_slots > 0 && t("freeSlotsSoon", { emptySlots: runway.empty_slots })}
          </Fact>
        )}
      </Group>
    </Paper>
  );
}

function nextWords(view: QueueView, now: Date): string {
  if (view.next_send !== null) return `${moment(view.next_send, view.zone)} (${fromNow(view.next_send, now)})`;
  if (view.paused) return view.paused_until === null ? t("paused") : t("pausedUntilTime", { time: moment(view.paused_until, view.zone) });
  return isConnected(view) ? t("nothingScheduled") : t("notConnected");
}

const isConnected = (view: QueueView) => view.account_state === "connected" || view.account_state === "expiring";

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <Text size="sm">
      <Text span c="dimmed" size="sm">
        {name}:{" "}
      </Text>
      {children}
    </Text>
  );
}

/** Why nothing goes out at the moment, and what to do about it. */
export function Standing(props: { account: Account; view: QueueView; mayResume: boolean; onResume: () => void }) {
  const { account, view } = props;
  return (
    <>
      {!isConnected(view) && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={accountWord(view.account_state).message}>
          {t("nothingIsSentUntilYouReconnect", { handle: account.handle })}{" "}
          <Anchor component={Link} to={`../accounts?account=${account.id}`} relative="path" inherit underline="always">
            {t("goToAccount")}
          </Anchor>
        </Alert>
      )}
      {view.paused && (
        <Alert color="yellow" icon={<IconPlayerPause aria-hidden />} title={t("pausedPauseReason", { pauseReason: view.pause_reason ?? t("noReasonGiven") })}>
          <Group justify="space-between">
            <Text size="sm">
              {view.paused_until === null
                ? t("pausedForNow")
                : t("pausedForNowUntil", { time: moment(view.paused_until, view.zone) })}
            </Text>
            {props.mayResume && (
              <Button size="xs" onClick={props.onResume}>
                {t("resumeDots")}
              </Button>
            )}
          </Group>
        </Alert>
      )}
      {isConnected(view) && !view.paused && view.to_resume > 0 && (
        <Alert color="yellow" icon={<IconPlayerPause aria-hidden />} title={t("postsWereDueWhileHandleWas", { toResume: view.to_resume, handle: account.handle })}>
          <Group justify="space-between">
            <Text size="sm">{t("theyWontBeSentUntilYou")}</Text>
            {props.mayResume && (
              <Button size="xs" onClick={props.onResume}>
                {t("decideDots")}
              </Button>
            )}
          </Group>
        </Alert>
      )}
      {!view.enabled && (
        <Alert color="gray" title={t("scheduleTurnedOff")}>
          {t("newPostsDontGetItsSlots")}
        </Alert>
      )}
    </>
  );
}
