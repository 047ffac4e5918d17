import { Alert, Button, Group, Stack, Tabs, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { fromNow, localDay, moment } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { count, networkName } from "../../ui/words";
import { PauseDialog } from "../queue/PauseDialog";
import { ResumeAccount } from "../queue/ResumeAccount";
import { Connect } from "./Connect";
import { healthOf } from "./health";
import { Hours } from "./Hours";
import { Limits } from "./Limits";
import { Lately } from "./Lately";
import { useAccountUse } from "./useAccountUse";

const ACCOUNT = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}";

/** One account: how it is, when and how much it may send, what it did, and letting it go. */
export function Detail({ account, onGone }: { account: Account; onGone: () => void }) {
  const isAdmin = useMay("admin");
  return (
    <Stack>
      <Standing account={account} onGone={onGone} />
      <Tabs defaultValue="limits" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="limits">Limits</Tabs.Tab>
          <Tabs.Tab value="hours">Hours</Tabs.Tab>
          <Tabs.Tab value="lately">Activity</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="limits" pt="md">
          <Limits account={account} mayChange={isAdmin} />
        </Tabs.Panel>
        <Tabs.Panel value="hours" pt="md">
          <Hours account={account} mayChange={isAdmin} />
        </Tabs.Panel>
        <Tabs.Panel value="lately" pt="md">
          <Lately account={account} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Standing({ account, onGone }: { account: Account; onGone: () => void }) {
  const workspaceId = useWorkspaceId();
  const path = { workspace_id: workspaceId, account_id: account.id };
  const [mayEdit, isAdmin] = [useMay("editor"), useMay("admin")];
  const now = useNow();
  const health = healthOf(account, now);
  const [dialog, setDialog] = useState<"pause" | "resume" | "connect" | null>(null);
  const close = () => setDialog(null);
  const gone = account.state === "disconnected";
  const pause = useAct("account", (body: { reason: string; until: string | null }) => take(api.POST(`${ACCOUNT}/pause`, { params: { path }, body })), {
    done: () => `${account.handle} is paused.`,
    after: close,
  });
  const leave = useAct("account", () => take(api.POST(`${ACCOUNT}/disconnect`, { params: { path }, body: { reason: "disconnected by a person" } })), {
    done: ({ canceled }) => `${account.handle} is disconnected; ${count(canceled, "post")} canceled.`,
    after: onGone,
  });
  const lift = useAct("account", () => take(api.POST(`${ACCOUNT}/lift-suspension`, { params: { path } })), {
    done: () => `${account.handle} sends again.`,
  });
  const disconnect = async () => {
    const yes = await askFirst({
      title: `Disconnect ${account.handle}?`,
      says: "Its keys are wiped and everything it had still to send is canceled. Its history stays. This cannot be undone; connecting it again starts with an empty queue.",
      yes: "Disconnect it",
      danger: true,
    });
    if (yes) leave.mutate();
  };
  return (
    <Stack gap="xs">
      <Alert color={health.colour} title={health.says}>
        {health.more ?? "It can send."}
      </Alert>
      <Text size="sm" c="dimmed">
        {networkName(account.provider)} · {account.zone} · connected {moment(account.created_at, account.zone)}
        {account.token_expires_at !== null && ` · key ends ${fromNow(account.token_expires_at, now)}`}
      </Text>
      <Today account={account} />
      <Group gap="xs">
        <Button size="xs" variant="default" component={Link} to={`/w/${workspaceId}/queue?account=${account.id}`}>
          Its queue
        </Button>
        {mayEdit && !gone && account.lane?.paused !== true && (
          <Button size="xs" variant="default" onClick={() => setDialog("pause")}>
            Pause…
          </Button>
        )}
        {mayEdit && (account.lane?.paused === true || account.to_resume > 0) && (
          <Button size="xs" onClick={() => setDialog("resume")}>
            Resume…
          </Button>
        )}
        {isAdmin && account.state === "suspended" && (
          <Button size="xs" loading={lift.isPending} onClick={() => lift.mutate()}>
            Let it send again
          </Button>
        )}
        {isAdmin && account.state !== "connected" && account.state !== "suspended" && (
          <Button size="xs" onClick={() => setDialog("connect")}>
            Connect again…
          </Button>
        )}
        {isAdmin && !gone && (
          <Button size="xs" variant="default" loading={leave.isPending} onClick={() => void disconnect()}>
            Disconnect…
          </Button>
        )}
      </Group>
      {dialog === "pause" && (
        <PauseDialog zone={account.zone} handle={account.handle} busy={pause.isPending} onPause={(asked) => pause.mutate(asked)} onClose={close} />
      )}
      {dialog === "resume" && <ResumeAccount accountId={account.id} onClose={close} />}
      {dialog === "connect" && <Connect again={account} onClose={close} />}
    </Stack>
  );
}

/** How much it sent since midnight there. */
function Today({ account }: { account: Account }) {
  const now = useNow();
  const use = useAccountUse(account.id);
  if (use.data === undefined) return null;
  const today = use.data.days.find(({ day }) => day === localDay(now, use.data.zone));
  const refused = today === undefined || today.refused === 0 ? "" : `, ${today.refused} refused`;
  return (
    <Text size="sm">
      Today: {today?.sent ?? 0} sent{refused}
    </Text>
  );
}
