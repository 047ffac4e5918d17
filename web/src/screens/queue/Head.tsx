import { Alert, Anchor, Button, Group, Paper, Text } from "@mantine/core";
import { IconAlertTriangle, IconPlayerPause } from "@tabler/icons-react";
import { Link } from "react-router";

import type { Account } from "../../api/accounts";
import { fromNow, moment } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { accountWord, count } from "../../ui/words";
import { ZoneBadge } from "../../ui/ZoneBadge";
import type { QueueView } from "./order";
import { useRunway } from "./useQueue";

/** The state of a queue at a glance: whose clock, when the next post goes, how long it lasts. */
export function Head({ account, view }: { account: Account; view: QueueView }) {
  const now = useNow();
  const runway = useRunway(account.id).data;
  return (
    <Paper className="queue-head" withBorder p="sm">
      <Group gap="md">
        <ZoneBadge zone={view.zone} />
        <Fact name="Next">
          {nextWords(view, now)}
        </Fact>
        {runway !== undefined && (
          <Fact name="Runway">
            {count(runway.posts, "post")}
            {runway.last_at !== null && `, until ${moment(runway.last_at, view.zone)}`}
            {runway.empty_slots > 0 && `; ${count(runway.empty_slots, "free slot")} in the next 7 days`}
          </Fact>
        )}
      </Group>
    </Paper>
  );
}

function nextWords(view: QueueView, now: Date): string {
  if (view.next_send !== null) return `${moment(view.next_send, view.zone)} (${fromNow(view.next_send, now)})`;
  if (view.paused) return view.paused_until === null ? "paused" : `paused until ${moment(view.paused_until, view.zone)}`;
  return isConnected(view) ? "nothing planned" : "not connected";
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
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={accountWord(view.account_state).says}>
          Nothing is sent until {account.handle} is connected again; the posts are kept.{" "}
          <Anchor component={Link} to={`../accounts?account=${account.id}`} relative="path" inherit underline="always">
            Go to the account
          </Anchor>
        </Alert>
      )}
      {view.paused && (
        <Alert color="yellow" icon={<IconPlayerPause aria-hidden />} title={`Paused: ${view.pause_reason ?? "no reason was given"}`}>
          <Group justify="space-between">
            <Text size="sm">
              Posts can be added and moved; nothing is sent
              {view.paused_until === null ? " until someone resumes." : ` until ${moment(view.paused_until, view.zone)}.`}
            </Text>
            {props.mayResume && (
              <Button size="xs" onClick={props.onResume}>
                Resume…
              </Button>
            )}
          </Group>
        </Alert>
      )}
      {isConnected(view) && !view.paused && view.to_resume > 0 && (
        <Alert color="yellow" icon={<IconPlayerPause aria-hidden />} title={`${count(view.to_resume, "post")} came due while ${account.handle} was disconnected`}>
          <Group justify="space-between">
            <Text size="sm">They aren't sent until you say what happens to them. New posts go out as usual.</Text>
            {props.mayResume && (
              <Button size="xs" onClick={props.onResume}>
                Choose what happens…
              </Button>
            )}
          </Group>
        </Alert>
      )}
      {!view.enabled && (
        <Alert color="gray" title="The schedule is switched off">
          Its slots are not given to new posts.
        </Alert>
      )}
    </>
  );
}
